// What a worker does for the tenant, and who has gone. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { json, limit, time } from "./fields.js";

export const worker_task = z
  .object({
    task_id: z.string().nullable().describe("null: the planning of a stage"),
    planning: z.boolean(),
    job_id: z.string().nullable(),
    job_type: z.string().nullable(),
    stage: z.string().nullable(),
    index: z.string(),
    task_type: z.string(),
    attempt: z.int(),
    claimed_at: time,
    running: z.boolean().describe("It said so with its last heartbeat; otherwise the task waits in the worker"),
    started_at: time.nullable(),
    progress: json.describe("What its handler said last"),
  })
  .meta({ id: "WorkerTask" });

const endpoint = endpointsOf({ tag: "operations", scope: "read" });

export const workers_api = {
  tasks: endpoint("GET /api/workers/{worker_id}/tasks", {
    sql: { name: "worker_tasks", named: { worker_id: "worker", limit: "most" } },
    summary: "What a worker holds of this tenant: what runs first, the longest first",
    params: z.strictObject({ worker_id: z.uuid().describe("As GET /api/workers returns it") }),
    query: z.strictObject({ limit }),
    reply: z.object({
      worker_id: z.string(),
      held: z.int().describe("Tasks of this tenant that it holds, shown or not"),
      tasks: z.array(worker_task),
      more: z.boolean(),
    }),
  }),
};
