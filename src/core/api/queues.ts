// Queues: what waits of each task type, who serves it, and what was done of it in the last minutes. Pure.
import { z } from "zod";
import { action } from "./action.js";
import { endpointsOf } from "./endpoint.js";
import { flag, time } from "./fields.js";

const points = z.array(z.int());
const looks = z.array(z.int().nullable());

export const queue_history = z
  .object({
    from: time.describe("When the first point begins"),
    step_s: z.int().describe("Seconds covered by each point; the last point is still growing"),
    completed: points.describe("Tasks that completed, counted exactly once"),
    failed: points.describe("Tasks that failed for good"),
    queued: looks.describe("Tasks that waited at the last measurement; null where none was made"),
    running: looks,
  })
  .meta({ id: "QueueHistory" });

export const queue = z
  .object({
    task_type: z.string().describe("#plan and #plan:<job type> are the planning of stages"),
    due: z.int().describe("Tasks that wait and may run now"),
    later: z.int().describe("Tasks that run later: delayed, or between two attempts"),
    retrying: z.int().describe("Part of both: tasks that had an attempt before"),
    running: z.int().describe("Tasks that workers hold"),
    oldest_at: time.nullable().describe("Since when the task that waits the longest is due"),
    oldest_job_id: z.string().nullable(),
    oldest_task_id: z.string().nullable(),
    counted_at: time.describe("When due and later were so: now, or in a very long queue when it was last counted"),
    paused: z.object({ at: time, by: z.string(), reason: z.string().nullable() }).nullable(),
    workers: z.int().describe("Live workers that take it; one that drains does not"),
    slots: z.int().describe("Tasks they can run at once"),
    problem: z
      .object({
        code: z.enum(["QUEUE_PAUSED", "NO_WORKER_FOR_TYPE"]),
        reason: z.string(),
        action,
        command: z.string().describe("What to run on the command line"),
      })
      .nullable()
      .describe("Why nothing of it is taken"),
    per_minute: z
      .object({ completed: z.number(), failed: z.number() })
      .describe("Over the last five minutes and the present one"),
    history: queue_history.nullable().describe("null: nothing of it happened in that time"),
  })
  .meta({ id: "Queue" });

const endpoint = endpointsOf({ tag: "operations", scope: "read" });

export const queues_api = {
  list: endpoint("GET /api/queues", {
    cli: "queues",
    sql: "list_queues",
    long: true,
    summary: "What waits of each task type, and what was done of it, problems first",
    description: "Task types of which something waits, runs, is paused, or ran within the last 24 hours.",
    query: z.strictObject({
      minutes: z.coerce
        .number()
        .int()
        .min(1)
        .max(1440)
        .default(60)
        .describe("How far the history goes back; more than 120 are put together"),
    }),
    reply: z.object({
      queues: z.array(queue),
      more: z.boolean().describe("There are more task types than this list has"),
    }),
  }),
  demand: endpoint("GET /api/queues/demand", {
    sql: "queue_demand",
    long: true,
    summary: "How many workers the work there is would keep busy, for autoscalers",
    description:
      "What is due and what runs, divided by the slots of a worker. Paused work does not count, and what is not known is 0, so that an " +
      "autoscaler never meets a hole.",
    query: z.strictObject({
      types: z
        .string()
        .max(2000)
        .regex(/^[a-z0-9_.*,]*$/)
        .optional()
        .describe("Task types, separated by commas; raster.* is all that begin so"),
      slots: z.coerce.number().int().min(1).max(10_000).default(8).describe("The slots of one worker"),
      everybody: flag.optional().describe("For operators: the work of all tenants"),
    }),
    reply: z.object({
      due: z.int().describe("Tasks that wait and may run now"),
      running: z.int(),
      slots: z.int().describe("Tasks that the workers there are can run at once"),
      wanted_workers: z.int().describe("So many would be busy"),
    }),
    errors: [403],
  }),
};
