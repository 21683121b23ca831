// Jobs, their stages and what became of them, as replies show them. Pure.

import { z } from "zod";
import { deadline_moments } from "../declare/deadline.js";
import { importances, job_statuses, parallelisms, stage_statuses } from "../shown/statuses.js";
import { action } from "./action.js";
import { dependency_record } from "./dependencies.js";
import { json, record, retry, time } from "./fields.js";

export const job_status = z.enum(job_statuses);

export const task_error = z
  .object({
    category: z.string().optional(),
    code: z.string().optional(),
    message: z.string().nullable().optional(),
    signature: z.string().optional().describe("The error group it belongs to"),
    quarantined: z.boolean().optional().describe("It crashed too often, and is not tried again by itself"),
    task_id: z.string().optional(),
    stage: z.string().optional(),
    by: z.string().optional(),
    while: z.string().optional(),
  })
  .meta({ id: "TaskError", description: "What went wrong" });

export const job_summary = z
  .object({
    job_id: z.string(),
    job_type: z.string(),
    run: z.int(),
    status: job_status,
    priority: z.int(),
    labels: z.record(z.string(), z.string()),
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
    error: task_error.nullable(),
  })
  .meta({ id: "JobSummary" });

const counts = {
  completed: z.int(),
  failed: z.int(),
  skipped: z.int(),
};

/** The progress of a job in a list, if asked for: counted in the ledgers of its stages. */
const listed_progress = z
  .object({
    stages: z.int(),
    stages_ended: z.int(),
    stage: z.int().nullable().describe("The number of the first stage that is open"),
    stage_name: z.string().nullable(),
    approval: z.boolean().describe("A stage waits for a person"),
    retrying: z.boolean().describe("Something is tried again, or waits to be"),
    total: z.int().describe("Tasks of the stages that are planned"),
    ...counts,
    open_stages: z
      .array(z.object({ stage_id: z.int(), total: z.int(), ...counts }))
      .describe("What the open stages contribute; the event stream reports changes"),
  })
  .meta({ id: "ListedProgress" });

export const listed_job = job_summary
  .extend({
    group_id: z.string().nullable(),
    correlation_id: z.string().nullable(),
    paused_at: time.nullable(),
    waits_for: z.int(),
    progress: listed_progress.nullable(),
  })
  .meta({ id: "ListedJob" });

const next_retry = z
  .object({
    task_id: z.string(),
    attempt: z.int(),
    max_attempts: z.int().nullable().describe("null: their number is no limit"),
    run_at: time,
    gives_up_at: time.nullable().describe("When it is given up if it goes on failing; null: time is no limit"),
    error: task_error.nullable().describe("Why the attempt before failed"),
  })
  .describe("When the first task that waits for another attempt is due; null: none waits");

export const stage_record = z
  .object({
    stage_id: z.int(),
    number: z.int(),
    name: z.string(),
    task_type: z.string(),
    parallelism: z.enum(parallelisms),
    importance: z.enum(importances),
    status: z.enum(stage_statuses),
    skip_reason: z.string().nullable(),
    epoch: z.int(),
    description: z.string().nullable(),
    gate: z.object({ message: z.string() }).nullable(),
    decision: z
      .object({ approved: z.boolean(), by: z.string(), why: z.string().nullable(), at: time })
      .nullable()
      .describe("What a person decided at its gate"),
    total: z.int().nullable(),
    ...counts,
    cancelled: z.int(),
    processing: z.int(),
    queued: z.int(),
    retrying: z.int(),
    after: z.array(z.int()).describe("The numbers of the stages it waits for"),
    of: z.int().nullable().describe("The number of the stage whose results it takes"),
    when: z
      .object({ path: z.string().optional(), function: z.string().optional() })
      .nullable()
      .describe("Under which condition it runs: a path that must find something, or a function of the handler's code"),
    budget: z
      .object({
        count: z.int().nullable(),
        percent: z.number().nullable(),
        allowed: z.int().nullable().describe("How many of its tasks may fail; known once it is planned"),
      })
      .nullable()
      .describe("How many failures it forgives; null: none"),
    max_parallel: z.int().nullable(),
    max_attempts: z
      .int()
      .nullable()
      .describe("null: no number was given; the kind of failure decides how long it is tried"),
    retry: retry.nullable().describe("What else it or its submit says about retries"),
    next_retry: next_retry.nullable(),
    timeout_s: z.int().nullable(),
    rate_per_s: z.number().nullable().describe("Tasks finished per second over the last minutes; null when unknown"),
    eta_s: z.number().nullable().describe("Seconds until the rest is done at that rate"),
    opened_at: time.nullable(),
    closed_at: time.nullable(),
    error: task_error.nullable(),
  })
  .meta({ id: "Stage" });

export const stage_result = z
  .object({
    stage: z.string(),
    status: z.enum(stage_statuses),
    checkpoint: z.boolean().describe("It ended well: a resume keeps it"),
    completed_at: time.nullable(),
    task_count: z.int().nullable(),
    success_count: z.int(),
    total: z.int().nullable(),
    ...counts,
    summary: z.string(),
  })
  .meta({ id: "StageResult" });

export const outcome = z
  .object({
    stage: z.string(),
    number: z.int(),
    objective: z.string(),
    importance: z.enum(importances),
    status: z.enum(["succeeded", "partly_succeeded", "failed", "skipped", "cancelled", "pending"]),
    total: z.int(),
    ...counts,
    error: task_error.nullable(),
    action: action.nullable(),
    recovery: z.string().nullable().describe("The call that repairs it"),
  })
  .meta({ id: "Outcome" });

export const deliverable = z
  .object({
    name: z.string(),
    stage: z.string(),
    count: z.number(),
    location: z.string().nullable(),
    locations: z.array(z.string()).nullable(),
    usable: z.boolean(),
    tasks: z.int(),
    at_least: z.boolean().describe("There are more: only the first 10,000 tasks that delivered were added up"),
  })
  .meta({ id: "Deliverable" });

export const progress = z
  .object({
    fraction: z.number().min(0).max(1).describe("0 to 1; stages that are not planned yet count as nothing done"),
    total: z.int().describe("Tasks of the stages that are planned"),
    ...counts,
    cancelled: z.int(),
    processing: z.int(),
    queued: z.int(),
    stages: z.int(),
    stages_ended: z.int(),
  })
  .meta({ id: "Progress" });

export const job_record = z
  .object({
    ...job_summary.shape,
    tenant_id: z.string(),
    parameters: record,
    metadata: record.nullable().describe("What its submit gave to be kept with it"),
    updated_at: time.describe("When something of it last changed that this record shows"),
    correlation_id: z.string().nullable(),
    group_id: z.string().nullable(),
    waits_for: z.int().describe("How many of the jobs it depends on have not ended well"),
    depends_on: z.array(dependency_record),
    deadline_at: time.nullable().describe("Null: none, or it does not count yet"),
    deadline_s: z.number().nullable().describe("Seconds that its work may take; null: however long it takes"),
    run_at: time.nullable().describe("When it was asked to start; null: at once"),
    deadline_from: z.enum(deadline_moments).describe("What the deadline counts from"),
    deadline_left_s: z
      .number()
      .nullable()
      .describe("What is left of it where it stands still, or counts from the start of work and nothing has started"),
    hint: z.string(),
    action: action.nullable(),
    epoch: z.int(),
    resume_count: z.int(),
    paused_at: time.nullable(),
    paused_by: z.string().nullable(),
    pause_reason: z.string().nullable(),
    cancelled_by: z.string().nullable().describe("Who cancelled it, when it is"),
    stage: z.int().nullable().describe("The number of the stage it is at, or ended at"),
    total_stages: z.int(),
    resumable: z.boolean(),
    resume_from_stage: z.int().nullable(),
    resume_hint: z.string().nullable().describe("The call that lets it go on"),
    progress,
    stage_results: z.record(z.string(), stage_result).describe("By stage number, of the stages that ended"),
    outcomes: z.array(outcome),
    deliverables: z.array(deliverable),
    items_url: z
      .string()
      .nullable()
      .describe("Where the catalogue has what it made: a STAC search; null where there is no catalogue"),
    now: time,
    result: json.describe(
      "The result of the last stage if that was one task; null when it is large: see GET /api/jobs/{job_id}/result",
    ),
    result_spill: record.nullable(),
    stages: z.array(stage_record),
  })
  .meta({ id: "Job" });
