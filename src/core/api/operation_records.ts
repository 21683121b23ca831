// What the verbs of an operator tell. Pure.
import { z } from "zod";
import { stage_statuses } from "../shown/statuses.js";
import { action } from "./action.js";
import { json, record, time, told } from "./fields.js";
import { job_status } from "./job_records.js";

export const repaired = z
  .object({
    job_id: z.string(),
    status: job_status,
    epoch: z.int(),
    resume_count: z.int(),
    from_stage: z.int(),
    again: z.int().describe("Tasks that run again in any case"),
    at_least: z.boolean().describe("In a dry run of an error group with very many failures: there may be more"),
    kept: z.int(),
    stages: z.array(
      z.object({
        number: z.int(),
        stage: z.string(),
        again: z.int(),
        at_most: z.int(),
        kept: z.int(),
        follows: z.boolean(),
      }),
    ),
    ...told,
  })
  .meta({ id: "Repaired" });

export const decided = z
  .object({
    job_id: z.string(),
    stage: z.string(),
    status: z.enum(stage_statuses).optional(),
    decision: z.object({ approved: z.boolean(), by: z.string(), why: z.string().nullable(), at: time }).nullable(),
    ...told,
  })
  .meta({ id: "Decided" });

export const why_record = z
  .object({
    id: z.string(),
    status: z.string(),
    code: z.string().describe("A word of a closed list, e.g. NO_WORKER_FOR_TYPE"),
    reason: z.string(),
    evidence: json,
    since: time.nullable(),
    heals_at: time.nullable(),
    heals: z.string().nullable(),
    action: action.nullable().describe("The one thing to do; null where waiting is all there is"),
    command: z.string().nullable().describe("What to run on the command line"),
    call: z.string().nullable().describe("The same as a call of this API, where there is one"),
  })
  .meta({ id: "Why" });

export const error_group = z
  .object({
    signature: z.string(),
    category: z.string().nullable(),
    code: z.string().nullable(),
    message: z.string().nullable(),
    sample: z.string().nullable(),
    tasks: z.int(),
    quarantined: z.boolean(),
    stages: z.array(z.string()),
    first_at: time,
    last_at: time,
    task_ids: z.array(z.string()),
    action,
    retry: z.string().describe("The call that runs this group again"),
  })
  .meta({ id: "ErrorGroup" });

export const verified = z
  .object({
    job_id: z.string(),
    job_type: z.string(),
    status: job_status,
    epoch: z.int(),
    stages: z.array(
      z.object({
        number: z.int(),
        stage: z.string(),
        status: z.enum(stage_statuses),
        total: z.int(),
        ready: z.int(),
        claims: z.int(),
        completed: z.int(),
        failed: z.int(),
        skipped: z.int(),
        absent: z.int(),
        problems: z.array(z.string()),
      }),
    ),
    files: z.int().describe("Spilled results that were read, and files in zones that were looked at"),
    file_count: z
      .int()
      .describe("All files of the job: these, and those that a later run of the same task has replaced"),
    problems: z.array(z.string()),
    ok: z.boolean(),
  })
  .meta({ id: "Verified" });

export const event = z
  .object({
    event_id: z.int(),
    at: time,
    kind: z.string(),
    actor: z.string(),
    stage_id: z.int().nullable(),
    reason: z.string().nullable(),
    data: record.nullable(),
  })
  .meta({ id: "Event" });

export const alert = z
  .object({
    event_id: z.int(),
    at: time,
    alert: z.string(),
    reason: z.string().nullable(),
    tenant_id: z.string(),
    job_id: z.string().nullable(),
    stage_id: z.int().nullable(),
    actor: z.string(),
    data: record.nullable(),
  })
  .meta({ id: "Alert" });

export const worker = z
  .object({
    worker_id: z.string(),
    shared: z.boolean().describe("It serves every tenant"),
    status: z.enum(["live", "silent"]).describe("silent: its connection is gone, or more than a heartbeat is missing"),
    silent_s: z.int().nullable().describe("For how long it has been silent; null for one that is heard as usual"),
    host: z.string().nullable().describe("Only for workers of the tenant's own"),
    pid: z.int().nullable(),
    version: z.string().nullable(),
    types: z.array(z.string()),
    slots: z.int(),
    memory_mb: z.int().nullable().describe("What the isolated tasks it runs may declare together"),
    memory_used_mb: z.int().nullable().describe("What those that run have declared; of a worker of the tenant's own"),
    too_large: z
      .record(z.string(), z.number())
      .describe("Task types it leaves to others, because one task needs more memory than it may use: MB by type"),
    started_at: time,
    heartbeat_at: time,
    lease_ends_at: time,
    lease_s: z.int(),
    draining_at: time.nullable().describe("Since when it takes nothing more: it leaves when what runs has ended"),
    rss_mb: z.int().nullable().describe("The memory of its process; of a worker of the tenant's own"),
    running: z.int().describe("Tasks that it ran at its last heartbeat: of this tenant; of all for an operator's key"),
    held: z.int().describe("Tasks of this tenant that it holds: those it runs, and those that wait in it"),
    held_by_others: z.int().nullable().describe("Tasks of other tenants that it holds, for an operator's key"),
  })
  .meta({ id: "Worker" });

export const gone_worker = z
  .object({
    worker_id: z.string(),
    shared: z.boolean(),
    status: z.enum(["stopped", "lost"]).describe("lost: it stopped sending heartbeats"),
    host: z.string().nullable(),
    pid: z.int().nullable(),
    version: z.string().nullable(),
    slots: z.int(),
    started_at: time,
    heartbeat_at: time,
    ended_at: time,
    went_back: z
      .int()
      .describe("Tasks of this tenant that it still held, of all for an operator's key: others run them"),
  })
  .meta({ id: "GoneWorker" });
