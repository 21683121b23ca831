// What a worker without database access asks and is answered: the protocol of docs/worker-protocol.md, call by call. Pure.
import { z } from "zod";
import { bulk_body_values, endpointsOf } from "./endpoint.js";
import { job_type, task_type } from "./fields.js";
import { files_api } from "./work/files.js";
import { largest_finish, most_finished, protocol_limits } from "./work/limits.js";
import { plans_api } from "./work/plans.js";
import { protocol_api } from "./work/protocol.js";
import {
  claim_id,
  claimed,
  finished,
  log_line,
  progress,
  refused,
  stored,
  type_counts,
  wanted,
  whole,
  work_task_id,
  worker,
} from "./work/tasks.js";

export { largest_result } from "./work/limits.js";
export type { FinishedTask, StoredResult, WorkLogLine, WorkStage, WorkTask, WorkTypeCounts } from "./work/tasks.js";

/** 409: the worker is unknown, declared lost or another's: register again. */
const errors = [409];
const { lease_s, claim_wait_s, heartbeat_claims, log_lines_per_call } = protocol_limits;

const endpoint = endpointsOf({ tag: "work", scope: "work", errors, params: worker.shape });

export const work_api = {
  ...protocol_api,
  ...plans_api,
  ...files_api,
  register: endpoint("POST /api/workers/register", {
    errors: [],
    long: false,
    summary: "Report for work",
    description:
      "Once at each start. A worker that is not heard of for lease_s is declared lost, and its tasks go to others. " +
      "Keys that this version does not know are ignored.",
    body: z
      .object({
        types: z.array(task_type.regex(/^[^#]/, "starts with #, which no task type does")).max(1000),
        plans: z.array(job_type).max(1000).default([]).describe("Job types whose function planners it has"),
        slots: z.int().min(1).max(10_000).default(1).describe("How many tasks it runs at the same time"),
        lease_s: z.int().min(lease_s.least).max(lease_s.most).default(lease_s.usual),
        host: z.string().max(255).optional(),
        pid: z.int().min(0).max(2_147_483_647).optional(),
        version: z.string().max(100).optional(),
        memory_mb: whole.max(1_000_000_000).optional().describe("What its tasks may declare together"),
        too_large: z
          .record(task_type, whole.max(1_000_000_000))
          .optional()
          .describe("Types it has a handler for and does not take: what one task needs, in MB"),
      })
      .refine(({ types, plans }) => types.length + plans.length > 0, {
        path: ["types"],
        message: "names nothing that this worker could do: give task types, or job types in `plans`",
      }),
    reply: z.object({ worker_id: z.string(), lease_s: z.int(), heartbeat_s: z.number(), protocol: z.int() }),
    status: 201,
  }),
  heartbeat: endpoint("POST /api/workers/{worker_id}/heartbeat", {
    long: false,
    summary: "Keep what is held",
    description:
      "Every heartbeat_s. Claims that are held but not named are given to others after a while. " +
      "Keys that this version does not know are ignored.",
    body: z.object({
      claims: z.array(whole).max(heartbeat_claims).default([]).describe("Every claim of which a task is not finished"),
      running: z
        .array(
          z.object({
            task_id: work_task_id,
            claim_id,
            elapsed_s: z.number().min(0).max(1e8),
            timeout_s: z.number().positive().max(1e8).optional(),
            progress: progress.nullable().optional(),
            progress_age_s: z.number().min(0).max(1e8).nullable().optional(),
          }),
        )
        .max(10_000)
        .default([]),
      draining: z.boolean().optional().describe("It takes nothing more, and leaves when what runs has ended"),
      rss_mb: whole.max(1e9).optional().describe("The memory of its process, shown to operators"),
      memory_used_mb: whole.max(1e9).optional().describe("Declared by the tasks that run"),
      counts: z
        .record(task_type, type_counts)
        .optional()
        .describe("By task type, since it registered: those that have changed"),
    }),
    reply: z.object({
      lost: z.array(z.int()).describe("Claims that are no longer held: drop their tasks"),
      abort: z
        .array(z.object({ task_id: z.string(), claim_id: z.int() }))
        .describe("Tasks that were cancelled: stop them and say nothing"),
    }),
    repeatable: true,
  }),
  claim: endpoint("POST /api/workers/{worker_id}/claim", {
    long: false,
    summary: "Take tasks, waiting for some if there are none",
    description: "Keys that this version does not know are ignored.",
    body: z.object({ ...wanted, wait_s: z.number().min(0).max(claim_wait_s).default(0) }),
    reply: claimed,
  }),
  finish: endpoint("POST /api/workers/{worker_id}/finish", {
    summary: "Tell what became of tasks, and take the next",
    description:
      "A result that cannot be stored (over 1 MB, or with what JSON or the database cannot hold) fails its task, and only that; so do " +
      "effects that cannot be written. " +
      "Sending it again after an answer was lost does no harm; leave `claim` out then.",
    body: z.strictObject({
      tasks: z.array(finished).min(1).max(most_finished),
      logs: z.array(log_line).max(log_lines_per_call).default([]).describe("The last lines of these tasks"),
      claim: z.object(wanted).optional().describe("Take these once the tasks are finished; it does not wait"),
    }),
    body_limit: largest_finish,
    body_values: bulk_body_values,
    loose: true,
    reply: z.object({
      accepted: z.int(),
      retried: z.int().describe("How many of the failed ones will be tried again"),
      refused: z.array(refused),
      unstorable: z.array(z.object({ task_id: z.string(), claim_id: z.int(), message: z.string() })),
      claim: claimed.nullable().describe("What was taken; null where nothing was asked for, or it could not be"),
    }),
    repeatable: true,
  }),
  release: endpoint("POST /api/workers/{worker_id}/release", {
    summary: "Hand tasks back, at no cost to them",
    body: z.strictObject({
      tasks: z
        .array(z.strictObject({ task_id: work_task_id, claim_id, started: z.boolean().default(false) }))
        .min(1)
        .max(10_000),
    }),
    reply: z.object({ released: z.int() }),
    repeatable: true,
  }),
  logs: endpoint("POST /api/workers/{worker_id}/logs", {
    summary: "Log lines of tasks that are held",
    body: z.strictObject({ lines: z.array(log_line).min(1).max(log_lines_per_call) }),
    body_limit: 2 * 1024 * 1024,
    loose: true,
    reply: z.object({ written: z.int(), refused: z.int() }),
  }),
  results: endpoint("GET /api/workers/{worker_id}/results", {
    errors: [...errors, 404],
    summary: "Completed results of a stage before, by ordinal",
    query: z.strictObject({
      stage_id: z.coerce.number().int().min(0),
      from: z.coerce.number().int().min(0).default(0),
      to: z.coerce.number().int().min(0).optional().describe("Not itself"),
      limit: z.coerce.number().int().min(1).max(1000).default(100),
    }),
    reply: z.object({ items: z.array(stored), next: z.int().nullable().describe("`from` of the next page") }),
  }),
  spilled: endpoint("GET /api/workers/{worker_id}/results/spilled", {
    errors: [...errors, 404],
    summary: "The JSON text of one result that is too large for a page",
    query: z.strictObject({
      stage_id: z.coerce.number().int().min(0),
      ordinal: z.coerce.number().int().min(0),
    }),
    reply: z.unknown().describe("The result as the worker that made it has written it"),
    media_type: "application/octet-stream",
  }),
  predecessor: endpoint("GET /api/workers/{worker_id}/predecessor", {
    errors: [...errors, 404],
    summary: "What the task of the same index in the stage before came to",
    query: z.strictObject({ task_id: work_task_id }),
    reply: z.object({
      predecessor: stored.extend({ status: z.string(), error: z.unknown() }).nullable(),
    }),
  }),
  stop: endpoint("POST /api/workers/{worker_id}/stop", {
    summary: "Leave: what is still held goes back",
    reply: z.object({ released: z.int() }),
    repeatable: true,
  }),
};
