// Tasks, their attempts and logs, as replies show them. Pure.
import { z } from "zod";
import { task_statuses } from "../shown/statuses.js";
import { json, record, retry, time } from "./fields.js";
import { task_error } from "./job_records.js";

export const task_status = z.enum(task_statuses);

export const task_summary = z
  .object({
    task_id: z.string(),
    job_id: z.string().nullable(),
    stage: z.string(),
    task_type: z.string(),
    ordinal: z.int(),
    index: z.string(),
    status: task_status,
    attempt: z.int().nullable(),
    priority: z.int().nullable(),
    run_at: time.nullable(),
    worker_id: z.string().nullable(),
    created_at: time,
    finished_at: time.nullable(),
    duration_ms: z.int().nullable(),
    error: task_error.nullable(),
  })
  .meta({ id: "TaskSummary" });

/** With what it produced. */
export const task_with_result = task_summary
  .extend({ parameters: record.nullable(), result: json, spill: record.nullable() })
  .meta({ id: "TaskWithResult" });

/** A worker, as the story of a task names it. */
export const worker_place = z
  .object({
    worker_id: z.string(),
    shared: z.boolean().describe("It serves every tenant: where it runs is shown only to operators"),
    status: z.string().nullable().describe("live, stopped or lost; null: nothing is known of it any more"),
    host: z.string().nullable(),
    pid: z.int().nullable(),
  })
  .meta({ id: "WorkerPlace" });

export const running_attempt = z
  .object({
    attempt: z.int(),
    claimed_at: time,
    started_at: time.nullable().describe("As its worker said; null: it has not said so yet"),
    heartbeat_at: time.nullable(),
    elapsed_s: z.number().nullable(),
    progress: json,
    progress_age_s: z.number().nullable(),
    worker: worker_place.nullable(),
  })
  .meta({ id: "RunningAttempt" });

export const attempt = z
  .object({
    attempt: z.int(),
    epoch: z.int(),
    outcome: z.enum(["failed", "lost", "released", "refused", "superseded"]),
    category: z.string().nullable(),
    code: z.string().nullable(),
    message: z.string().nullable(),
    signature: z.string().nullable(),
    detail: json,
    duration_ms: z.int().nullable(),
    worker_id: z.string().nullable(),
    worker: worker_place.nullable(),
    started_at: time
      .nullable()
      .describe("null: not known, of an attempt whose worker was lost or that was repaired away"),
    ended_at: time,
    retry_at: time.nullable(),
    max_attempts: z.int().nullable().describe("How many attempts it has; null: their number is no limit"),
    gives_up_at: time.nullable().describe("When the task is given up if it goes on failing; null: time is no limit"),
  })
  .meta({ id: "Attempt" });

export const task_record = task_summary
  .extend({
    parameters: record.nullable(),
    metadata: record.nullable(),
    result: json,
    spill: record.nullable(),
    next_stage_params: json,
    deliverables: json,
    stage_number: z.int().nullable(),
    stage_opened_at: time.nullable(),
    max_attempts: z
      .int()
      .nullable()
      .describe("null: no number was given; the kind of failure decides how long it is tried"),
    retry: retry.nullable().describe("What else its stage and its enqueue say about retries"),
    timeout_s: z.int().nullable(),
    parent: z.string().nullable(),
    bbox: z.array(z.number()).nullable(),
    bytes: z
      .object({
        parameters: z.int().nullable(),
        metadata: z.int().nullable(),
        result: z.int().nullable(),
        next_stage_params: z.int().nullable(),
        deliverables: z.int().nullable(),
      })
      .describe("Size of the values as JSON text"),
    left_out: z.array(z.string()).describe("Values that are larger than `largest` and come as null"),
    worker: worker_place.nullable().describe("Who finished it, or has it"),
    running: running_attempt.nullable(),
    attempts: z.array(attempt).describe("Those that did not simply succeed, the newest 500"),
    attempts_left_out: z.int(),
    logs: z.array(z.object({ at: time, attempt: z.int(), level: z.string(), message: z.string(), data: json })),
  })
  .meta({ id: "Task" });
