// Tenants over HTTP, for operators of the service. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { actor, cursor, dry_run, limit, reason, shownName, time } from "./fields.js";
import { created_key, new_key } from "./keys.js";

export const tenant_id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/)
  .describe("Lower-case letters, digits, - and _; it stays");
const name = shownName(200).nullable().describe("How people call it");

const tenant_record = z.object({ tenant_id: z.string(), name: z.string().nullable(), created_at: time });
const made_tenant = tenant_record.extend({ created: z.boolean() });
const endpoint = endpointsOf({ tag: "tenants", scope: "admin", operator: true, params: { tenant_id } });

export const tenants_api = {
  list: endpoint("GET /api/tenants", {
    cli: "tenants",
    sql: "list_tenants",
    summary: "List tenants by id",
    query: z.strictObject({ limit, cursor }),
    reply: z.object({ tenants: z.array(tenant_record), next: z.string().nullable() }),
  }),
  create: endpoint("POST /api/tenants", {
    cli: "tenants create {tenant_id}",
    sql: { name: "add_tenant", request: true },
    summary: "Make a tenant",
    body: z.strictObject({ tenant_id, name: name.default(null), actor }),
    reply: made_tenant,
    status: 201,
    other_answers: { 200: { description: "It exists already, and is unchanged", schema: made_tenant } },
    repeatable: true,
  }),
  get: endpoint("GET /api/tenants/{tenant_id}", {
    sql: { name: "get_tenant", named: { tenant_id: "tenant" } },
    summary: "Look at a tenant",
    reply: tenant_record,
    errors: [404],
  }),
  rename: endpoint("PATCH /api/tenants/{tenant_id}", {
    cli: "tenants rename {tenant_id} {name}",
    sql: { name: "rename_tenant", request: true },
    summary: "Call a tenant something else",
    body: z.strictObject({ name, actor }),
    reply: tenant_record,
    errors: [404],
    repeatable: true,
  }),
  remove: endpoint("DELETE /api/tenants/{tenant_id}", {
    cli: "tenants remove {tenant_id}",
    summary: "Take a tenant away for good, with everything",
    description:
      "All rows and files of it: jobs, requests, keys, catalogue, layers, events. Nothing of it may be running. A call works for some " +
      "seconds; while it answers `more`, the same call goes on. The audit of the default tenant keeps who did it.",
    body: z.strictObject({
      confirm: z.string().max(63).optional().describe("The tenant's id again: everything of it goes"),
      keep_files: z.boolean().default(false).describe("Files stay where they are"),
      reason,
      dry_run,
      actor,
    }),
    reply: z.object({
      tenant_id: z.string(),
      dry_run: z.boolean(),
      jobs: z.int().nullable().describe("That would go; null: not asked"),
      removed: z.int().describe("Rows and jobs that this call removed"),
      files: z.int().describe("Files that this call removed, or recorded ones that would go"),
      more: z.boolean().describe("Something is left: call again"),
    }),
    errors: [404, 409],
  }),
  create_key: endpoint("POST /api/tenants/{tenant_id}/keys", {
    summary: "Make a key of a tenant: its first one, usually",
    body: new_key,
    reply: created_key,
    status: 201,
    errors: [404],
  }),
};
