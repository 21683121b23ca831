// Configurations of connectors over HTTP, and the hosts they call. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { actor, record, time } from "./fields.js";

const connector = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/)
  .describe("The connector: its task type without `connector.`, for example http.request");
const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/)
  .describe("The name tasks give as `config`");

const configuration = z.object({
  connector: z.string(),
  name: z.string(),
  config: record,
  created_at: time,
  updated_at: time,
  updated_by: z.string(),
});

const host = z.object({
  scope: z.string(),
  breaker: z.enum(["closed", "open", "half_open"]),
  open_until: time.nullable(),
  wait_until: time.nullable(),
  calls: z.int(),
  failed_count: z.int(),
  ok_count: z.int(),
  mean_s: z.number(),
  used_at: time,
});

const endpoint = endpointsOf({ tag: "connectors", scope: "read", params: { connector, name } });

export const connectors_api = {
  list: endpoint("GET /api/connectors", {
    cli: "connectors",
    sql: { name: "list_connectors", list: "connectors" },
    summary: "List the configurations of connectors",
    description: "They hold references to secrets (secret://name), never values.",
    query: z.strictObject({ connector: connector.optional() }),
    reply: z.object({ connectors: z.array(configuration) }),
  }),
  set: endpoint("PUT /api/connectors/{connector}/{name}", {
    cli: "connectors set {connector} {name}",
    summary: "Write a configuration of a connector, new or in place of the old one",
    description:
      "Beside what the connector declares: `outbound` (a narrower policy), `limits` and `breaker`. What looks like a secret is " +
      "refused: keep it with the worker, and write secret://name.",
    scope: "admin",
    body: z.strictObject({ config: record, actor }),
    body_limit: 128 * 1024,
    reply: configuration.extend({ warnings: z.array(z.string()) }),
    errors: [413, 422],
  }),
  remove: endpoint("DELETE /api/connectors/{connector}/{name}", {
    cli: "connectors remove {connector} {name}",
    sql: "remove_connector",
    summary: "Remove a configuration of a connector",
    description: "Tasks that name it fail from now on.",
    scope: "admin",
    reply: z.object({ connector: z.string(), name: z.string(), removed: z.boolean() }),
    errors: [404],
  }),
  hosts: endpoint("GET /api/connector-hosts", {
    cli: "connectors hosts",
    sql: { name: "list_hosts", list: "hosts" },
    summary: "What connectors have called lately, the troubled first",
    description:
      "A host, or a configuration whose calls share limits: calls under way, and whether the circuit is open.",
    reply: z.object({ hosts: z.array(host) }),
  }),
};
