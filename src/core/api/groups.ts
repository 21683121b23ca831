// Groups of jobs over HTTP. Pure.
import { z } from "zod";
import { action } from "./action.js";
import { group_id } from "./dependencies.js";
import { endpointsOf } from "./endpoint.js";
import { actor, cursor, dry_run, flag, limit, reason, record, shownName, time } from "./fields.js";

const status = z.enum(["open", "completed", "partial_success", "failed", "cancelled"]);

export const group_record = z
  .object({
    group_id: z.string(),
    name: z.string().nullable(),
    status,
    created_at: time,
    created_by: z.string(),
    expected: z.int().nullable(),
    sealed_at: time.nullable(),
    sealed_by: z.string().nullable(),
    finished_at: time.nullable(),
    total: z.int(),
    open: z.int(),
    completed: z.int(),
    partial_success: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    hint: z.string(),
    action: action.nullable(),
  })
  .meta({ id: "Group" });

/** As lists of jobs show them. */
const job = z.object({
  job_id: z.string(),
  job_type: z.string(),
  run: z.int(),
  status: z.string(),
  priority: z.int(),
  labels: record,
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  error: record.nullable(),
});

const endpoint = endpointsOf({ tag: "groups", scope: "read", params: { group_id } });

export const groups_api = {
  list: endpoint("GET /api/groups", {
    cli: "groups",
    sql: "list_groups",
    summary: "List groups, newest first",
    query: z.strictObject({ status: status.optional(), limit, cursor }),
    reply: z.object({ groups: z.array(group_record), next: z.string().nullable() }),
  }),
  create: endpoint("PUT /api/groups/{group_id}", {
    scope: "submit",
    cli: "groups create {group_id}",
    summary: "Open a group before its first job",
    description:
      "A group also opens by itself when a job names it first. It ends once it is sealed and all its jobs have ended; with " +
      "`expected` it is sealed when that many jobs have joined.",
    body: z
      .strictObject({
        name: shownName(200).nullable().optional(),
        expected: z.int().min(1).max(999_999_999).nullable().optional(),
        actor,
      })
      .prefault({}),
    reply: group_record,
    other_answers: { 201: { description: "It is new", schema: group_record } },
    errors: [409],
  }),
  get: endpoint("GET /api/groups/{group_id}", {
    cli: "groups show {group_id}",
    sql: "get_group",
    summary: "One group, with its counts",
    reply: group_record,
    errors: [404],
  }),
  seal: endpoint("POST /api/groups/{group_id}/seal", {
    scope: "submit",
    cli: "groups seal {group_id}",
    sql: "seal_group",
    summary: "Let no more jobs join; it ends when all it has have ended",
    body: z.strictObject({ actor }).prefault({}),
    reply: z.object({ changed: z.boolean(), group: group_record }),
    errors: [404],
    repeatable: true,
  }),
  jobs: endpoint("GET /api/groups/{group_id}/jobs", {
    cli: "groups jobs {group_id}",
    sql: { name: "list_group_jobs", named: { open: "open_only" } },
    summary: "Its jobs, newest first",
    query: z.strictObject({ open: flag.optional().describe("true: only those that have not ended"), limit, cursor }),
    reply: z.object({ jobs: z.array(job), next: z.string().nullable() }),
    errors: [404],
  }),
  cancel: endpoint("POST /api/groups/{group_id}/cancel", {
    scope: "operate",
    cli: "groups cancel {group_id}",
    summary: "Cancel its open jobs",
    description: "Cancels as many jobs as it can within 20 seconds and returns how many are left: call again.",
    body: z.strictObject({ reason, actor, dry_run }).prefault({}),
    reply: z.object({
      group_id: z.string(),
      cancelled: z.int(),
      left: z.int(),
      dry_run: z.boolean(),
      changed: z.boolean(),
    }),
    errors: [404],
    repeatable: true,
  }),
};
