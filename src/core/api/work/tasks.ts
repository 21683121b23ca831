// Tasks as a worker over HTTP hears of them and tells of them. Other languages write these by hand: plain objects, no short names. Pure.
import { z } from "zod";
import { categories } from "../../shown/statuses.js";
import { log_levels } from "../../task/log_line.js";
import { record, retry, task_type } from "../fields.js";
import { effect, max_effects, sha256, zone_file } from "./effects.js";

export const whole = z.int().min(0);
/** As the database counts them. */
export const attempt = whole.max(32_767).default(1);
export const worker = z.strictObject({ worker_id: z.uuid().describe("As register gave it") });

/** A task's id: stage and ordinal; of the planning of a stage: stage and `plan`. */
export const work_task_id = z
  .string()
  .regex(/^\d{1,15}-(\d{1,15}|plan)$/, "is not a task's id as claim gave it, such as 12-0 or 12-plan")
  .describe("As claim gave it");
export const claim_id = whole.describe("As claim gave it: proof that the task is held");
/** One attempt of one task that the worker holds. */
export const held_attempt = { task_id: work_task_id, claim_id, attempt };

export const stage = z.object({
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
  parameters: record.nullable().describe("The parameters of the job"),
  correlation_id: z.string().nullable(),
  traceparent: z.string().nullable().optional().describe("W3C trace context of the submitter"),
  planner: z.enum(["function", "data"]).describe("function: its tasks, or its condition, are made by code of a worker"),
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

export const task = z.object({
  kind: z
    .enum(["task", "plan"])
    .describe("plan: make the tasks of the stage; only for workers that registered `plans`"),
  task_id: z.string(),
  claim_id: z.int(),
  stage_id: z.int(),
  ordinal: z.int().describe("-1 of a plan"),
  index: z.string(),
  attempt: z.int(),
  parameters: z.unknown().describe("null: the parameters of its stage, which are the job's"),
  metadata: z.unknown(),
});

export const claimed = z.object({ tasks: z.array(task), stages: z.array(stage) });

/** What a claim asks for, of its own or with a finish. */
export const wanted = {
  limit: z.int().min(1).max(1000).default(1),
  per_type: z
    .record(task_type, whole.max(1000))
    .optional()
    .describe(
      "How many tasks of these types at most; 0: none. Types that are not named share `limit`, which bounds all",
    ),
  known_stages: z.array(whole).max(100).default([]).describe("Stages whose facts the worker has: they are left out"),
};

export const progress = z.strictObject({
  share: z.number().min(0).max(1).optional(),
  done: z.number().optional(),
  total: z.number().optional(),
  message: z.string().max(500).optional(),
});

export const log_line = z.strictObject({
  ...held_attempt,
  ago_ms: z.number().min(0).max(86_400_000).default(0).describe("How long ago: only the database's clock counts"),
  level: z.enum(log_levels).default("info"),
  message: z.string(),
  data: z.unknown().optional(),
});

export const finished = z.strictObject({
  ...held_attempt,
  duration_ms: z.number().min(0).max(2_000_000_000).default(0),
  /** Left out, it is null. */
  result: z.unknown().optional(),
  spill: z
    .strictObject({
      key: z.string().min(1).max(1024),
      bytes: whole,
      sha256,
    })
    .optional()
    .describe("The file of a result that is too large to be sent here, as `files` gave it; there is no `result` then"),
  next_stage_params: z
    .unknown()
    .optional()
    .describe("Handed to the tasks of the next stage, in addition to the result"),
  deliverables: z.array(z.unknown()).max(100).optional(),
  effects: z
    .array(effect)
    .max(max_effects)
    .optional()
    .describe("Written in the transaction of the finish, in this order, all or none, and only if the finish is taken"),
  error: z
    .strictObject({
      message: z.string(),
      code: z.string().max(100).default("failed").describe("A short word to group failures by"),
      category: z
        .enum(categories)
        .default("transient")
        .describe("transient: try again; permanent, contract: do not; throttled: the other side asked to wait"),
      retry_after_s: z.number().min(0).optional(),
      detail: record.optional(),
      retry: retry.optional(),
    })
    .optional()
    .describe("It failed; there is no result then"),
  discard: z.array(zone_file).max(100).optional().describe("With an error: files of this attempt, to be removed now"),
});

export const refused = z.object({
  task_id: z.string(),
  claim_id: z.int(),
  reason: z.enum(["not_held", "twice"]).describe("not_held: others hold it now, or it was cancelled. Drop the result"),
});

export const stored = z.object({
  ordinal: z.int(),
  index: z.string(),
  result: z.unknown(),
  next_stage_params: z.unknown(),
  left_out: z
    .object({
      bytes: z.int(),
      reason: z.string(),
      url: z.string().nullable().describe("Where its JSON text is read; null: its file is gone"),
    })
    .nullable()
    .describe("A result that is too large to be sent here, or whose file is gone"),
});

const count = z.number().min(0).max(1e18);
const by_category = z.partialRecord(z.enum(categories), count);
/** Counts of one task type, since the worker registered. */
export const type_counts = z.object({
  claimed: count.default(0),
  completed: count.default(0),
  refused: count.default(0),
  duration_s: count.default(0),
  failed: by_category.default({}),
  retried: by_category.default({}),
  durations: z
    .array(count)
    .max(50)
    .default([])
    .describe("How many ended within each bound of protocol.json, and beyond"),
});

export type WorkTask = z.output<typeof task>;
export type WorkStage = z.output<typeof stage>;
export type FinishedTask = z.output<typeof finished>;
export type WorkLogLine = z.output<typeof log_line>;
export type StoredResult = z.output<typeof stored>;
export type WorkTypeCounts = z.output<typeof type_counts>;
