// The contract by noun, for client.call(api.jobs.list, …). Re-exports only.
import { assets_api } from "../core/api/assets.js";
import { audit_api } from "../core/api/audit.js";
import { blueprints_api } from "../core/api/blueprints.js";
import { cells_api } from "../core/api/cells.js";
import { footprints_api } from "../core/api/footprints.js";
import { groups_api } from "../core/api/groups.js";
import { health_api } from "../core/api/health.js";
import { job_bulk_api } from "../core/api/job_bulk.js";
import { jobs_api } from "../core/api/jobs.js";
import { keys_api } from "../core/api/keys.js";
import { limits_api } from "../core/api/limits.js";
import { operations_api } from "../core/api/operations.js";
import { queues_api } from "../core/api/queues.js";
import { schedules_api } from "../core/api/schedules.js";
import { sessions_api } from "../core/api/sessions.js";
import { stream_api } from "../core/api/stream.js";
import { task_details_api } from "../core/api/task_details.js";
import { tasks_api } from "../core/api/tasks.js";
import { tenants_api } from "../core/api/tenants.js";
import { timeline_api } from "../core/api/timeline.js";
import { views_api } from "../core/api/views.js";
import { vitals_api } from "../core/api/vitals.js";
import { deliveries_api, webhooks_api } from "../core/api/webhooks.js";
import { work_api } from "../core/api/work.js";
import { workers_api } from "../core/api/workers.js";

export const api = {
  jobs: jobs_api,
  job_bulk: job_bulk_api,
  views: views_api,
  tasks: tasks_api,
  cells: cells_api,
  footprints: footprints_api,
  task_details: task_details_api,
  timeline: timeline_api,
  operations: operations_api,
  blueprints: blueprints_api,
  audit: audit_api,
  keys: keys_api,
  limits: limits_api,
  sessions: sessions_api,
  tenants: tenants_api,
  webhooks: webhooks_api,
  deliveries: deliveries_api,
  assets: assets_api,
  schedules: schedules_api,
  groups: groups_api,
  stream: stream_api,
  health: health_api,
  vitals: vitals_api,
  queues: queues_api,
  workers: workers_api,
  work: work_api,
};
