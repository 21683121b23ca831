// The contract by noun, for client.call(api.jobs.list, …). Re-exports only.
import { blueprints_api } from "../core/api/blueprints.js";
import { health_api } from "../core/api/health.js";
import { jobs_api } from "../core/api/jobs.js";
import { operations_api } from "../core/api/operations.js";
import { stream_api } from "../core/api/stream.js";
import { tasks_api } from "../core/api/tasks.js";

export const api = {
  ...{ jobs: jobs_api, tasks: tasks_api, operations: operations_api, blueprints: blueprints_api },
  ...{ stream: stream_api, health: health_api },
};
