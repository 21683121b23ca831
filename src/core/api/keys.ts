// API keys over HTTP. The whole key is in the answer that makes it and in no other. Pure.
import { z } from "zod";
import { endpointsOf, scopes } from "./endpoint.js";
import { actor, cursor, limit, reason, shownName, time } from "./fields.js";

export const key_id = z
  .string()
  .regex(/^[a-z0-9]{12}$/)
  .describe("The key's id: the third part of the key");

const nullable_time = time.nullable();
export const key_record = z.object({
  key_id: z.string(),
  tenant_id: z.string(),
  env: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  operator: z.boolean(),
  status: z.enum(["active", "ending", "expired", "revoked"]),
  created_at: time,
  created_by: z.string(),
  expires_at: nullable_time,
  last_used_at: nullable_time.describe("To the minute"),
  revoked_at: nullable_time.describe("In the future while a rotation overlaps"),
  revoked_by: z.string().nullable(),
  rotated_from: z.string().nullable(),
});

const whole_key = z.string().describe("The whole key: kept by you, for it is not shown again");
export const created_key = key_record.extend({ key: whole_key });

export const new_key = z.strictObject({
  name: shownName(100).describe("What it is for"),
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).describe("Only such as the caller has"),
  env: z
    .string()
    .regex(/^[a-z0-9]{1,16}$/)
    .default("live")
    .describe("The second part of the key, so that people can distinguish keys by sight"),
  operator: z.boolean().default(false).describe("An operator's key; only operators make such keys"),
  expires_at: z.iso.datetime({ offset: true }).nullable().default(null).describe("null: never"),
  actor,
});

const endpoint = endpointsOf({ tag: "keys", scope: "admin", params: { key_id } });

export const keys_api = {
  list: endpoint("GET /api/keys", {
    cli: "keys",
    sql: "list_keys",
    summary: "List keys, newest first",
    query: z.strictObject({ limit, cursor }),
    reply: z.object({ keys: z.array(key_record), next: z.string().nullable() }),
  }),
  create: endpoint("POST /api/keys", {
    cli: "keys create {name}",
    summary: "Make a key",
    body: new_key,
    reply: created_key,
    status: 201,
    errors: [422],
  }),
  get: endpoint("GET /api/keys/{key_id}", {
    sql: { name: "get_key", named: { key_id: "key" } },
    summary: "Look at a key",
    reply: key_record,
    errors: [404],
  }),
  rotate: endpoint("POST /api/keys/{key_id}/rotate", {
    cli: "keys rotate {key_id}",
    summary: "Make a key that takes another's place",
    description: "The new key has the name and the scopes of the old one, which ends after the overlap.",
    body: z.strictObject({
      overlap_s: z.int().min(0).max(2_592_000).default(3600).describe("How long both are valid"),
      expires_at: z.iso
        .datetime({ offset: true })
        .nullable()
        .default(null)
        .describe("null: as long as the old one was given"),
      actor,
    }),
    reply: z.object({ old: key_record, new: created_key }),
    status: 201,
    errors: [404, 409, 422],
  }),
  revoke: endpoint("DELETE /api/keys/{key_id}", {
    cli: "keys revoke {key_id}",
    summary: "End a key",
    description: "Refused at once by the server that answers this, and within five seconds by every other.",
    query: z.strictObject({ reason, actor }),
    reply: key_record,
    errors: [404],
  }),
};
