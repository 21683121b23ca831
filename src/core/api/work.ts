// What a worker without database access says and hears. Other languages write these by hand: plain objects, no short names. Pure.
import { z } from "zod";
import { log_levels } from "../task/log_line.js";
import { bulk_body_values, endpoint } from "./endpoint.js";
import { record, retry, task_type } from "./fields.js";

/** Bytes of a result as JSON text. More goes into storage, and a reference is the result. */
export const largest_result = 1024 * 1024;

const whole = z.int().min(0);
/** As the database counts them. */
const attempt = whole.max(32_767).default(1);
const worker = z.strictObject({ worker_id: z.uuid().describe("As register gave it") });
const tag = "work";
const scope = "work" as const;
/** 409: the worker is unknown, declared lost or another's: register again. */
const errors = [409];

/** A task's id: stage and ordinal. */
const work_task_id = z
  .string()
  .regex(/^\d{1,15}-\d{1,15}$/)
  .describe("As claim gave it");
const claim_id = whole.describe("As claim gave it: proof that the task is held");

const stage = z.object({
  stage_id: z.int(),
  tenant_id: z.string(),
  job_id: z.string().nullable(),
  job_type: z.string().nullable(),
  stage: z.string(),
  number: z.int(),
  task_type: z.string(),
  timeout_s: z.number().nullable(),
  max_attempts: z.int().nullable(),
  parallelism: z.enum(["single", "fan_out", "fan_in", "match_previous"]),
  batch: z.int().nullable(),
  parameters: record.nullable().describe("Of the job"),
  correlation_id: z.string().nullable(),
  traceparent: z.string().nullable().optional().describe("W3C trace context of whoever submitted the job"),
  previous: z
    .array(
      z.object({
        number: z.int(),
        name: z.string(),
        stage_id: z.int(),
        total: z.int().nullable(),
        status: z.string(),
      }),
    )
    .describe("The stages whose results its tasks may read"),
  of: z.int().nullable().describe("The number of the one it matches or folds, where it says so"),
});

const task = z.object({
  task_id: z.string(),
  claim_id: z.int(),
  stage_id: z.int(),
  ordinal: z.int(),
  index: z.string(),
  attempt: z.int(),
  parameters: z.unknown().describe("null: the parameters of its stage, which are the job's"),
  metadata: z.unknown(),
});

const progress = z.strictObject({
  share: z.number().min(0).max(1).optional(),
  done: z.number().optional(),
  total: z.number().optional(),
  message: z.string().max(500).optional(),
});

const log_line = z.strictObject({
  task_id: work_task_id,
  claim_id,
  attempt,
  ago_ms: z.number().min(0).max(86_400_000).default(0).describe("How long ago: only the database's clock counts"),
  level: z.enum(log_levels).default("info"),
  message: z.string(),
  data: z.unknown().optional(),
});

const finished = z.strictObject({
  task_id: work_task_id,
  claim_id,
  attempt,
  duration_ms: z.number().min(0).max(2_000_000_000).default(0),
  /** Left out, it is null. */
  result: z.unknown().optional(),
  next_stage_params: z.unknown().optional().describe("Handed to the tasks of the next stage, beside the result"),
  deliverables: z.array(z.unknown()).max(100).optional(),
  error: z
    .strictObject({
      message: z.string(),
      code: z.string().max(100).default("failed").describe("A short word to group failures by"),
      category: z
        .enum(["transient", "throttled", "permanent", "contract", "crash"])
        .default("transient")
        .describe("transient: try again; permanent, contract: do not; throttled: the other side asked to wait"),
      retry_after_s: z.number().min(0).optional(),
      detail: record.optional(),
      retry: retry.optional(),
    })
    .optional()
    .describe("It failed; there is no result then"),
});

const refused = z.object({
  task_id: z.string(),
  claim_id: z.int(),
  reason: z.enum(["not_held", "twice"]).describe("not_held: others hold it now, or it was cancelled. Drop the result"),
});

const stored = z.object({
  ordinal: z.int(),
  index: z.string(),
  result: z.unknown(),
  next_stage_params: z.unknown(),
  left_out: z
    .object({ bytes: z.int(), reason: z.string() })
    .nullable()
    .describe("A result that is too large to be sent here, or whose file is gone"),
});

export const work_api = {
  register: endpoint({
    method: "POST",
    path: "/api/workers/register",
    tag,
    scope,
    long: false,
    summary: "Report for work",
    description:
      "Once at each start. A worker that is not heard of for lease_s is declared lost, and its tasks go to others.",
    body: z.strictObject({
      types: z.array(task_type.regex(/^[^#]/, "starts with #, which no task type does")).min(1).max(1000),
      slots: z.int().min(1).max(10_000).default(1).describe("How many tasks it runs at the same time"),
      lease_s: z.int().min(5).max(3600).default(30),
      host: z.string().max(255).optional(),
      pid: z.int().min(0).max(2_147_483_647).optional(),
      version: z.string().max(100).optional(),
    }),
    reply: z.object({ worker_id: z.string(), lease_s: z.int(), heartbeat_s: z.number() }),
    status: 201,
  }),
  heartbeat: endpoint({
    method: "POST",
    path: "/api/workers/{worker_id}/heartbeat",
    tag,
    scope,
    errors,
    long: false,
    summary: "Keep what is held",
    description: "Every heartbeat_s. Claims that are held but not named are given to others after a while.",
    params: worker,
    body: z.strictObject({
      claims: z.array(whole).max(10_000).default([]).describe("Every claim of which a task is not finished"),
      running: z
        .array(
          z.strictObject({
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
      rss_mb: whole.max(1e9).optional().describe("The memory of its process, for whoever looks"),
    }),
    reply: z.object({
      lost: z.array(z.int()).describe("Claims that are no longer held: drop their tasks"),
      abort: z
        .array(z.object({ task_id: z.string(), claim_id: z.int() }))
        .describe("Tasks that were cancelled: stop them and say nothing"),
    }),
    repeatable: true,
  }),
  claim: endpoint({
    method: "POST",
    path: "/api/workers/{worker_id}/claim",
    tag,
    scope,
    errors,
    long: false,
    summary: "Take tasks, waiting for some if there are none",
    params: worker,
    body: z.strictObject({
      limit: z.int().min(1).max(1000).default(1),
      wait_s: z.number().min(0).max(20).default(0),
      known_stages: z
        .array(whole)
        .max(100)
        .default([])
        .describe("Stages whose facts the worker has: they are left out"),
    }),
    reply: z.object({ tasks: z.array(task), stages: z.array(stage) }),
  }),
  finish: endpoint({
    method: "POST",
    path: "/api/workers/{worker_id}/finish",
    tag,
    scope,
    errors,
    summary: "Tell what became of tasks",
    description:
      "A result that cannot be stored (over 1 MB, or with what JSON or the database cannot hold) fails its task, and only that. " +
      "Sending it again after an answer was lost does no harm.",
    params: worker,
    body: z.strictObject({
      tasks: z.array(finished).min(1).max(1000),
      logs: z.array(log_line).max(2000).default([]).describe("The last lines of these tasks"),
    }),
    body_limit: 16 * 1024 * 1024,
    body_values: bulk_body_values,
    loose: true,
    reply: z.object({
      accepted: z.int(),
      retried: z.int().describe("Of those that failed, what will be tried again"),
      refused: z.array(refused),
      unstorable: z.array(z.object({ task_id: z.string(), claim_id: z.int(), message: z.string() })),
    }),
    repeatable: true,
  }),
  release: endpoint({
    method: "POST",
    path: "/api/workers/{worker_id}/release",
    tag,
    scope,
    errors,
    summary: "Hand tasks back, at no cost to them",
    params: worker,
    body: z.strictObject({
      tasks: z
        .array(z.strictObject({ task_id: work_task_id, claim_id, started: z.boolean().default(false) }))
        .min(1)
        .max(10_000),
    }),
    reply: z.object({ released: z.int() }),
    repeatable: true,
  }),
  logs: endpoint({
    method: "POST",
    path: "/api/workers/{worker_id}/logs",
    tag,
    scope,
    errors,
    summary: "Log lines of tasks that are held",
    params: worker,
    body: z.strictObject({ lines: z.array(log_line).min(1).max(2000) }),
    body_limit: 2 * 1024 * 1024,
    loose: true,
    reply: z.object({ written: z.int(), refused: z.int() }),
  }),
  results: endpoint({
    method: "GET",
    path: "/api/workers/{worker_id}/results",
    tag,
    scope,
    errors: [...errors, 404],
    summary: "Completed results of a stage before, by ordinal",
    params: worker,
    query: z.strictObject({
      stage_id: z.coerce.number().int().min(0),
      from: z.coerce.number().int().min(0).default(0),
      to: z.coerce.number().int().min(0).optional().describe("Not itself"),
      limit: z.coerce.number().int().min(1).max(1000).default(100),
    }),
    reply: z.object({ items: z.array(stored), next: z.int().nullable().describe("`from` of the next page") }),
  }),
  predecessor: endpoint({
    method: "GET",
    path: "/api/workers/{worker_id}/predecessor",
    tag,
    scope,
    errors: [...errors, 404],
    summary: "What the task of the same index in the stage before came to",
    params: worker,
    query: z.strictObject({ task_id: work_task_id }),
    reply: z.object({
      predecessor: stored.extend({ status: z.string(), error: z.unknown() }).nullable(),
    }),
  }),
  stop: endpoint({
    method: "POST",
    path: "/api/workers/{worker_id}/stop",
    tag,
    scope,
    errors,
    summary: "Leave: what is still held goes back",
    params: worker,
    reply: z.object({ released: z.int() }),
    repeatable: true,
  }),
};

export type WorkTask = z.output<typeof task>;
export type WorkStage = z.output<typeof stage>;
export type FinishedTask = z.output<typeof finished>;
export type WorkLogLine = z.output<typeof log_line>;
export type StoredResult = z.output<typeof stored>;
