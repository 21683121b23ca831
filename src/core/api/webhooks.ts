// Webhooks and their deliveries over HTTP. Pure.
import { z } from "zod";
import { delivery_statuses, endpoint_id_pattern, webhook_events } from "../places/webhooks.js";
import { endpointsOf } from "./endpoint.js";
import { actor, cursor, dry_run, job_id, limit, reason, shownLines } from "./fields.js";

const endpoint_id = z
  .string()
  .regex(endpoint_id_pattern, "is not a webhook endpoint's id: we_…, as creating it returned it")
  .describe("The webhook endpoint's id");
const delivery_id = z
  .string()
  .regex(/^msg_[a-z0-9]{20,60}$/)
  .describe("The delivery's id, as sent in the header webhook-id");
const url = z
  .string()
  .min(8)
  .max(2048)
  .regex(
    /^https?:\/\/[^\s/?#@\\]+([/?#][\x21-\x5b\x5d-\x7e]*)?$/i,
    "is not an http(s) address without user name or blanks",
  )
  .describe("Where to POST to");
const events = z.array(z.enum(webhook_events)).max(webhook_events.length);
const secret_reference = z
  .string()
  .regex(
    /^secret:\/\/[a-z0-9]([a-z0-9_.-]{0,61}[a-z0-9])?$/,
    "is not the name of a secret, secret://name: a secret itself would be stored with the job",
  )
  .describe("The name of a secret that the workers know; its value is whsec_ and base64");

/** The problem of a receiver that fits neither way to name one. */
function receiverProblem(given: unknown): string {
  const { url, secret } = (given ?? {}) as Record<string, unknown>;
  return url !== undefined && secret === undefined
    ? 'has a url and no secret to sign with: add "secret": "secret://name", a secret that the workers know'
    : 'is neither {"url": …, "secret": …} nor {"endpoint": …}';
}

/** The submit option: who else hears how this job ends. */
export const job_webhooks = z
  .array(
    z.union(
      [
        z.strictObject({ url, secret: secret_reference, events: events.min(1).optional() }),
        z.strictObject({ endpoint: endpoint_id, events: events.min(1).optional() }),
      ],
      { error: ({ input }) => receiverProblem(input) },
    ),
  )
  .min(1)
  .max(10)
  .describe("Who else hears how this job ends");

const webhook = z.object({
  endpoint_id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  events: z.array(z.string()),
  timeout_s: z.int(),
  status: z.enum(["enabled", "paused", "disabled"]),
  disabled_at: z.string().nullable(),
  disabled_reason: z.string().nullable(),
  failure_streak: z.int(),
  failing_since: z.string().nullable(),
  paused_until: z.string().nullable(),
  secrets: z.array(z.object({ kept: z.string(), since: z.string(), until: z.string().nullable() })),
  created_at: z.string(),
  created_by: z.string(),
});
/** The secret, where one was made here; it is in no other answer. */
const with_secret = webhook.extend({ secret: z.string().nullable() });
const warnings = z
  .array(z.string())
  .describe("What will not work as it stands, unless the operator of the workers opens it");

const delivery = z.object({
  delivery_id: z.string(),
  endpoint_id: z.string().nullable(),
  url: z.string().nullable(),
  event_type: z.string(),
  job_id: z.string().nullable(),
  epoch: z.int().nullable(),
  status: z.enum(delivery_statuses),
  reason: z.string().nullable(),
  series: z.int(),
  attempts: z.int(),
  next_at: z.string().nullable(),
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
});
const delivery_try = z.object({
  at: z.string(),
  series: z.int(),
  duration_ms: z.int().nullable(),
  status: z.int().nullable(),
  bytes: z.int().nullable(),
  error: z.string().nullable(),
  body: z.string().nullable(),
});

const settings = {
  url,
  events: events.optional().describe("What it hears of; all when left out, [] for what jobs name it for"),
  description: shownLines(500).optional(),
  timeout_s: z.int().min(1).max(30).optional().describe("How long a receiver may take; 20 when left out"),
};

const endpoint = endpointsOf({ tag: "webhooks", scope: "admin", params: { endpoint_id, delivery_id } });

export const webhooks_api = {
  create: endpoint("POST /api/webhooks", {
    cli: "webhooks create {url}",
    summary: "Make a webhook endpoint; its secret is shown once",
    body: z.strictObject({ ...settings, secret: secret_reference.optional(), actor }),
    reply: with_secret.extend({ warnings }),
    status: 201,
    errors: [409, 422],
  }),
  list: endpoint("GET /api/webhooks", {
    cli: "webhooks",
    sql: { name: "list_webhooks", list: "endpoints" },
    summary: "List webhook endpoints",
    reply: z.object({ endpoints: z.array(webhook) }),
  }),
  get: endpoint("GET /api/webhooks/{endpoint_id}", {
    cli: "webhooks show {endpoint_id}",
    sql: "get_webhook",
    summary: "One webhook endpoint",
    reply: webhook,
    errors: [404],
  }),
  update: endpoint("PATCH /api/webhooks/{endpoint_id}", {
    cli: "webhooks update {endpoint_id}",
    summary: "Change a webhook endpoint, enable or disable it",
    description:
      "Disabling discards what waits for it. Enabling forgets its failures; what was discarded can be replayed.",
    body: z.strictObject({ ...settings, url: url.optional(), enabled: z.boolean().optional(), reason, actor }),
    reply: webhook.extend({ warnings }),
    errors: [404],
    repeatable: true,
  }),
  remove: endpoint("DELETE /api/webhooks/{endpoint_id}", {
    cli: "webhooks delete {endpoint_id}",
    sql: "delete_webhook",
    summary: "Delete a webhook endpoint and discard what waits for it",
    reply: z.object({ endpoint_id: z.string(), deleted: z.boolean(), discarded: z.int() }),
    errors: [404],
    repeatable: false,
  }),
  rotate: endpoint("POST /api/webhooks/{endpoint_id}/secret", {
    cli: "webhooks rotate {endpoint_id}",
    summary: "Give it a new secret; for a while deliveries are signed with both",
    body: z.strictObject({
      secret: secret_reference.optional(),
      overlap_s: z.number().min(0).max(2_592_000).default(86_400).describe("How long the secrets before stay good"),
      actor,
    }),
    reply: with_secret,
    errors: [404, 409],
  }),
  ping: endpoint("POST /api/webhooks/{endpoint_id}/ping", {
    cli: "webhooks ping {endpoint_id}",
    sql: "ping_webhook",
    summary: "Send it something to try it out with",
    reply: delivery,
    status: 202,
    errors: [404, 409],
  }),
  replay: endpoint("POST /api/webhooks/{endpoint_id}/replay", {
    cli: "webhooks replay --endpoint {endpoint_id}",
    sql: { name: "replay_deliveries", request: true },
    summary: "Send deliveries of a span of time again, oldest first",
    scope: "operate",
    body: z.strictObject({
      from: z.iso.datetime({ offset: true }).optional(),
      to: z.iso.datetime({ offset: true }).optional(),
      statuses: z.array(z.enum(delivery_statuses)).min(1).max(4).default(["failed", "discarded"]),
      dry_run,
      actor,
    }),
    reply: z.object({
      endpoint_id: z.string(),
      deliveries: z.int(),
      dry_run: z.boolean(),
      more: z.boolean(),
      next_from: z.string().nullable(),
    }),
    errors: [404, 409],
  }),
};

export const deliveries_api = {
  list: endpoint("GET /api/deliveries", {
    cli: "webhooks deliveries",
    sql: "list_deliveries",
    summary: "List deliveries, newest first",
    scope: "read",
    query: z.strictObject({
      endpoint_id: endpoint_id.optional(),
      job_id: job_id.optional(),
      status: z.enum(delivery_statuses).optional(),
      limit,
      cursor,
    }),
    reply: z.object({ deliveries: z.array(delivery), next: z.string().nullable() }),
    errors: [404],
  }),
  get: endpoint("GET /api/deliveries/{delivery_id}", {
    cli: "webhooks delivery {delivery_id}",
    sql: "get_delivery",
    summary: "One delivery with its payload and every try",
    scope: "read",
    reply: delivery.extend({ payload: z.string(), tries: z.array(delivery_try) }),
    errors: [404],
  }),
  replay: endpoint("POST /api/deliveries/{delivery_id}/replay", {
    cli: "webhooks replay {delivery_id}",
    sql: "replay_delivery",
    summary: "Send one delivery again: the same id and bytes, a new series of tries",
    scope: "operate",
    reply: delivery,
    errors: [404, 409],
  }),
  discard: endpoint("POST /api/deliveries/{delivery_id}/discard", {
    cli: "webhooks discard {delivery_id}",
    sql: "discard_delivery",
    summary: "Give up a pending delivery",
    scope: "operate",
    body: z.strictObject({ reason, actor }).default({}),
    reply: delivery,
    errors: [404, 409],
    repeatable: true,
  }),
};
