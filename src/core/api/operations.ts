// What an operator does about a job, a task type or the whole. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { job_id, limit, moment, priority, stage, task_type, time, told, verb } from "./fields.js";
import { job_status } from "./job_records.js";
import {
  alert,
  decided,
  error_group,
  event,
  gone_worker,
  repaired,
  verified,
  why_record,
  worker,
} from "./operation_records.js";

const pause_told = { paused: z.boolean(), queued: z.int().describe("Tasks that wait"), ...told };
const job_paused = z.object({ job_id: z.string(), status: job_status, ...pause_told });
const type_paused = z.object({ task_type: z.string(), ...pause_told });
const event_cursor = z
  .string()
  .regex(/^\d{1,18}$/)
  .optional()
  .describe("`next` of the page before: the id of its last event");
const required_reason = z.string().trim().min(1).max(1000).describe("Why, for the record");

const endpoint = endpointsOf({ tag: "operations", scope: "operate", params: { job_id, stage, task_type } });

export const operations_api = {
  cancel: endpoint("POST /api/jobs/{job_id}/cancel", {
    cli: "cancel {job_id}",
    sql: "cancel_job",
    summary: "Cancel a job",
    body: verb.prefault({}),
    reply: z.object({
      job_id: z.string(),
      status: job_status,
      queued: z.int(),
      running: z.int(),
      ...told,
    }),
    errors: [409],
    repeatable: true,
  }),
  purge: endpoint("DELETE /api/jobs/{job_id}", {
    cli: "purge {job_id}",
    sql: "purge_job",
    summary: "Remove an ended job for good, with its tasks, results, attempts, logs and events",
    description:
      "Files that it delivered stay, and so does what people did to it, in the audit. Refused while something alive refers to it.",
    scope: "admin",
    body: verb.prefault({}),
    reply: z.object({ job_id: z.string(), status: job_status, tasks: z.int().describe("Tasks that it had"), ...told }),
    errors: [409],
  }),
  pause: endpoint("POST /api/jobs/{job_id}/pause", {
    cli: "pause {job_id}",
    sql: "pause_job",
    summary: "Pause a job: nothing of it is started, what runs may finish",
    body: verb.prefault({}),
    reply: job_paused,
    errors: [409],
    repeatable: true,
  }),
  continue: endpoint("POST /api/jobs/{job_id}/continue", {
    cli: "continue {job_id}",
    sql: "continue_job",
    summary: "Let a paused job go on",
    body: verb.prefault({}),
    reply: job_paused,
    errors: [409],
    repeatable: true,
  }),
  change: endpoint("POST /api/jobs/{job_id}/change", {
    cli: "change {job_id}",
    sql: "change_job",
    summary: "Change the priority of a job, the attempts of its tasks, or when it starts",
    description:
      "Only for a job that has not ended. Tasks in hand go on as they are. `run_at` is for a job that waits for its time; one that is past lets it " +
      "start now.",
    body: verb.extend({
      priority: priority.optional(),
      attempts: z.int().min(1).max(10_000).optional().describe("The most attempts of each task"),
      run_at: moment.optional().describe("Not before this time"),
    }),
    reply: z.object({
      job_id: z.string(),
      status: job_status,
      priority: z.int(),
      run_at: time.nullable(),
      queued: z.int().describe("Tasks that wait"),
      ...told,
    }),
    errors: [409],
    repeatable: true,
  }),
  resume: endpoint("POST /api/jobs/{job_id}/resume", {
    cli: "resume {job_id}",
    sql: "resume_job",
    summary: "Let a job that did not end well go on, under the same id",
    description: "What completed stays; what failed, was cancelled or never ran runs again, and what follows it.",
    body: verb.prefault({}),
    reply: repaired,
    errors: [409],
  }),
  retry_stage: endpoint("POST /api/jobs/retry-stage/{job_id}/{stage}", {
    cli: "retry {job_id} --stage {stage}",
    sql: "retry_stage",
    summary: "Run every task of a stage of an ended job again, and what follows it",
    body: verb.prefault({}),
    reply: repaired,
    errors: [409],
  }),
  retry_group: endpoint("POST /api/jobs/{job_id}/retry-group", {
    cli: "retry {job_id} --group {signature}",
    sql: "retry_group",
    summary: "Run the tasks of one error group again, and what follows them",
    body: verb.extend({
      signature: z
        .string()
        .min(1)
        .max(200)
        .describe("The signature of a group, as GET /api/jobs/{job_id}/errors returns it"),
    }),
    reply: repaired,
    errors: [409],
  }),
  approve: endpoint("POST /api/jobs/{job_id}/approve", {
    cli: "approve {job_id}",
    sql: { name: "decide_gate", also: { stage: null, approved: true } },
    summary: "Approve a stage that waits for a person",
    body: verb.extend({ stage: stage.optional() }).prefault({}),
    reply: decided,
    errors: [409],
    repeatable: true,
  }),
  reject: endpoint("POST /api/jobs/{job_id}/reject", {
    cli: "reject {job_id}",
    sql: { name: "decide_gate", also: { stage: null, approved: false } },
    summary: "Reject a stage that waits for a person: it fails",
    body: verb.extend({ stage: stage.optional(), reason: required_reason }),
    reply: decided,
    errors: [409],
    repeatable: true,
  }),
  errors: endpoint("GET /api/jobs/{job_id}/errors", {
    cli: "errors {job_id}",
    long: true,
    summary: "The failures of a job in groups, largest first",
    description:
      "In a stage with more than 20,000 failed tasks it examines the first and the last 10,000, and returns the 200 largest groups: " +
      "where `looked_at` is less than `failed`, the counts are of what was looked at. A dry run of retry-group says how many " +
      "tasks a group has in all.",
    scope: "read",
    reply: z.object({
      job_id: z.string(),
      failed: z.int().describe("Failed tasks of the job"),
      looked_at: z.int().describe("How many of them were grouped"),
      group_count: z.int().describe("How many groups there are"),
      groups: z.array(error_group),
    }),
  }),
  why: endpoint("GET /api/jobs/{job_id}/why", {
    cli: "why {job_id}",
    summary: "Why a job does not move, or ended as it did",
    scope: "read",
    reply: why_record,
  }),
  verify: endpoint("GET /api/jobs/{job_id}/verify", {
    cli: "verify {job_id}",
    long: true,
    summary: "Prove the ledger of a job from its rows and files",
    description:
      "Spilled results are read and compared with their checksums; files in zones must be there and have their size. With `checksum` they are " +
      "read, too.",
    scope: "read",
    query: z.strictObject({
      checksum: z
        .enum(["true", "false"])
        .default("false")
        .describe("Also read every file in a zone and compare its SHA-256"),
    }),
    reply: verified,
  }),
  events: endpoint("GET /api/jobs/{job_id}/events", {
    cli: "events {job_id}",
    summary: "What happened to a job, oldest or newest first",
    description:
      "A page looks at a bounded number of events, so with kinds that are rare it may be short and have a `next` all the same.",
    scope: "read",
    query: z.strictObject({
      limit,
      cursor: event_cursor,
      order: z.enum(["oldest", "newest"]).default("oldest"),
      kind: z
        .string()
        .max(500)
        .regex(
          /^[a-z_]+(\.[a-z_]+)*(,[a-z_]+(\.[a-z_]+)*)*$/,
          "expected kinds such as job.paused or stage, with commas between them",
        )
        .meta({ examples: ["stage", "job.paused,job.continued"] })
        .transform((text) => text.split(","))
        .optional()
        .describe("Only these: kinds, or the first word of several, with commas between them"),
    }),
    reply: z.object({ job_id: z.string(), events: z.array(event), next: z.string().nullable() }),
  }),
  pause_type: endpoint("POST /api/task-types/{task_type}/pause", {
    cli: "pause --type {task_type}",
    sql: "pause_type",
    summary: "Pause a task type: none of its tasks is started",
    body: verb.prefault({}),
    reply: type_paused,
    repeatable: true,
  }),
  continue_type: endpoint("POST /api/task-types/{task_type}/continue", {
    cli: "continue --type {task_type}",
    sql: "continue_type",
    summary: "Let a paused task type go on",
    body: verb.prefault({}),
    reply: type_paused,
    repeatable: true,
  }),
  alerts: endpoint("GET /api/alerts", {
    cli: "alerts",
    sql: { name: "list_alerts", named: { cursor: "before" } },
    summary: "What should not have happened and did, newest first",
    scope: "read",
    query: z.strictObject({ limit, cursor: event_cursor }),
    reply: z.object({ alerts: z.array(alert), next: z.string().nullable() }),
  }),
  workers: endpoint("GET /api/workers", {
    cli: "workers",
    summary: "The workers that serve this tenant, and those that have gone within the hour",
    description:
      "A worker that serves every tenant is shown without its machine, its memory and its work for others, except to an operator's key.",
    scope: "read",
    reply: z.object({ workers: z.array(worker), gone: z.array(gone_worker) }),
  }),
};
