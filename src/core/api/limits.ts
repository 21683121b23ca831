// What a tenant may use at most, over HTTP. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { actor } from "./fields.js";
import { tenant_id } from "./tenants.js";

const count = (most: number, text: string) => z.int().min(1).max(most).nullable().describe(text);

export const limit_values = z.object({
  concurrent_tasks: count(2_147_483_647, "Tasks in hand at once"),
  queued_tasks: count(1_000_000_000_000, "Tasks that wait"),
  submits_per_s: z.number().min(0.001).max(1_000_000).nullable().describe("Jobs and lone tasks submitted per second"),
  submit_burst: count(10_000_000, "How many of them at once after a pause; null: a second's worth"),
  fan_out: count(10_000_000, "Tasks of one stage"),
  submit_bytes: z.int().min(2).max(1_073_741_824).nullable().describe("Bytes of parameters in one call"),
  plan_bytes: count(1_073_741_824, "Bytes of the tasks that one plan makes; null: 64 MB"),
});

const limits_record = z.object({
  tenant_id: z.string(),
  limits: limit_values.describe("null: no limit"),
  usage: z.object({
    queued_tasks: z.int(),
    concurrent_tasks: z.int(),
    submits_left: z.number().nullable().describe("How many may come right now; null: any number"),
  }),
});

const endpoint = endpointsOf({ tag: "limits", scope: "admin", params: { tenant_id } });

export const limits_api = {
  own: endpoint("GET /api/limits", {
    cli: "limits",
    sql: "get_limits",
    summary: "What you may use at most, and what you use now",
    scope: "read",
    reply: limits_record,
  }),
  get: endpoint("GET /api/limits/{tenant_id}", {
    cli: "limits {tenant_id}",
    sql: { name: "get_limits", named: { tenant_id: "tenant" } },
    summary: "What a tenant may use at most, and what it uses now",
    operator: true,
    reply: limits_record,
    errors: [404],
  }),
  change: endpoint("PUT /api/limits/{tenant_id}", {
    cli: "limits {tenant_id} set",
    summary: "Change what a tenant may use at most",
    description: "What is named is set, null lifts it, and what is left out stays.",
    operator: true,
    body: z.strictObject({ ...limit_values.partial().shape, actor }),
    reply: limits_record,
    errors: [404],
  }),
};
