// How long history is kept, over HTTP. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { actor, time } from "./fields.js";
import { tenant_id } from "./tenants.js";

export const retention_kinds = [
  "jobs",
  "tasks",
  "requests",
  "deliveries",
  "ticks",
  "events",
  "audit",
  "groups",
  "workers",
] as const;

const kind = z.enum(retention_kinds).describe("What it is about; tasks are those that stand alone");
const keep_s = z.number().min(0).max(1e10).nullable().describe("Seconds after its end; null: for ever");
const keep_count = z
  .int()
  .min(1)
  .max(1_000_000)
  .nullable()
  .describe("How many of the newest jobs of each type stay at most; null: any number");

const rule = z.object({
  kind,
  type: z.string().nullable().describe("A job type or task type; null: all"),
  status: z.string().nullable().describe("How it ended; null: however"),
  keep_s,
  keep_count,
  set_for: z
    .enum(["tenant", "everybody"])
    .nullable()
    .describe(
      "A tenant's own rule comes before one for everybody, and that before those that hold by themselves (null)",
    ),
  changed_at: time.nullable(),
  changed_by: z.string().nullable(),
});

const retention_record = z.object({
  tenant_id: z.string(),
  rules: z.array(rule),
  going: z
    .array(
      z.object({
        kind,
        type: z.string().nullable(),
        status: z.string(),
        count: z.int(),
        oldest_at: time,
        at_least: z.boolean().describe("Only the oldest 20,000 were looked at"),
      }),
    )
    .describe("What the rules let go now. Something alive may still refer to a part of it, which then stays"),
  removed: z.array(z.object({ kind: z.string(), removed: z.int(), last_removed_at: time.nullable() })),
  rows_left: z.int().describe("Tasks of jobs that are gone, whose rows are being removed"),
});

const change = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        kind,
        type: z.string().min(1).max(200).optional(),
        status: z.string().min(1).max(40).optional(),
        keep_s: keep_s.optional(),
        keep_count: keep_count.optional(),
        remove: z.literal(true).optional().describe("The rule goes, and a wider one holds"),
      }),
    )
    .min(1)
    .max(100),
  actor,
});

const endpoint = endpointsOf({ tag: "retention", scope: "admin", params: { tenant_id } });

export const retention_api = {
  own: endpoint("GET /api/retention", {
    cli: "retention",
    sql: "get_retention",
    long: true,
    summary: "How long your history is kept, and what would go now",
    scope: "read",
    reply: retention_record,
  }),
  get: endpoint("GET /api/retention/{tenant_id}", {
    cli: "retention --tenant {tenant_id}",
    sql: { name: "get_retention", named: { tenant_id: "tenant" } },
    long: true,
    summary: "How long the history of a tenant is kept, and what would go now",
    operator: true,
    reply: retention_record,
    errors: [404],
  }),
  change: endpoint("PUT /api/retention/{tenant_id}", {
    summary: "Change how long the history of a tenant is kept",
    description: "A rule that is named is set, one with `remove` goes, and what is not named stays.",
    operator: true,
    body: change,
    reply: retention_record,
    errors: [404],
  }),
  change_default: endpoint("PUT /api/retention", {
    summary: "Change how long the history of all tenants without rules of their own is kept",
    operator: true,
    body: change,
    reply: retention_record,
  }),
};
