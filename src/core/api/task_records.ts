// Tasks, their attempts and logs, as replies show them. Pure.
import { z } from "zod";
import { task_statuses } from "../statuses.js";
import { json, record, time } from "./fields.js";
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
    ended_at: time,
    retry_at: time.nullable(),
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
    attempts: z.array(attempt),
    logs: z.array(z.object({ at: time, attempt: z.int(), level: z.string(), message: z.string(), data: json })),
  })
  .meta({ id: "Task" });
