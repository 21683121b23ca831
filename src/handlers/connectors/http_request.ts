// connector.http.request: one HTTP call, safely. Small answers come back as the result, large ones go to storage.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { Permanent, type StorageError } from "../../core/errors/errors.js";
import { isOfTenant, type Ref, tenantPrefix } from "../../core/places/store.js";
import type { TaskContext } from "../../core/task/context.js";
import { bodyJson, bodyText, keptHeaders } from "./answers.js";
import { type CallRequest, hostOf, tooLarge } from "./caller.js";
import { defineConnector } from "./connector.js";
import type { Body, GuardedHead } from "./guard/index.js";

/** What a result may hold; more goes to storage, where it costs the database nothing. */
const inline_bytes = 512 * 1024;

const scalar = z.union([z.string().max(8192), z.number(), z.boolean()]);
const headers = z.record(z.string().min(1).max(200), z.string().max(16_384));
const query = z.record(z.string().max(200), z.union([scalar, z.array(scalar).max(1000)]));
const ref = z.strictObject({ store: z.string(), key: z.string(), bytes: z.int().min(0), sha256: z.string() });
const status = z.int().min(100).max(599);

const parameters = z.strictObject({
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]).default("GET"),
  url: z.string().min(1).max(2048).describe("Whole, or a path below the base_url of the configuration"),
  headers: headers.optional(),
  query: query.optional(),
  json: z.unknown().optional().describe("Sent as JSON"),
  body: z.string().optional(),
  body_from: ref.optional().describe("A stored file, sent as it is"),
  expect: z
    .strictObject({
      status: z
        .union([status, z.array(status).min(1).max(100)])
        .optional()
        .describe("Default: 200 to 299"),
      content_type: z.string().max(200).optional().describe("The beginning of the media type: application/json"),
    })
    .optional(),
  response: z
    .enum(["json", "text", "stored", "none"])
    .optional()
    .describe("Default: JSON or text, by what it says it is"),
  redirects: z.int().min(0).max(10).optional().describe("Default: 0"),
  timeout_s: z.number().positive().max(3600).optional(),
});

type Parameters = z.output<typeof parameters>;

export interface HttpResult {
  status: number;
  headers: Record<string, string>;
  bytes: number;
  redirects: number;
  json?: unknown;
  text?: string;
  stored?: Ref;
}

export const httpRequest = defineConnector({
  name: "http.request",
  parameters,
  configuration: z.object({
    base_url: z.url().max(2048).optional(),
    headers: headers.optional(),
    query: query.optional(),
  }),
  async run(given, { ctx, call }): Promise<HttpResult> {
    const request = await requestOf(given, ctx);
    return call.stream(request, (head, body) => read(given, head, body, ctx));
  },
});

async function requestOf(given: Parameters, ctx: TaskContext): Promise<CallRequest> {
  const { method, url, query, json, body, body_from, expect, redirects, timeout_s } = given;
  if ([json, body, body_from].filter((one) => one !== undefined).length > 1) {
    throw new Permanent("give one of json, body and body_from", { code: "bad_request" });
  }
  const accept = expect?.status === undefined ? undefined : [expect.status].flat();
  return {
    method,
    url,
    query,
    json,
    accept,
    timeout_s,
    max_redirects: redirects,
    headers: given.headers,
    body: body_from === undefined ? body : await stored(body_from, ctx),
    max_bytes: given.response === "stored" ? undefined : inline_bytes,
  };
}

async function stored(from: Ref, ctx: TaskContext): Promise<Uint8Array> {
  // A reference of another tenant's, or one that was made up: what is there is not told.
  const unreadable = (cause?: unknown) =>
    new Permanent("body_from names no stored file that can be read", { code: "bad_request", cause });
  if (!isOfTenant(from, ctx.tenant_id)) throw unreadable();
  try {
    return await ctx.storage.get(from);
  } catch (error) {
    if ((error as StorageError).reason === "unavailable") throw error;
    throw unreadable(error);
  }
}

async function read(given: Parameters, head: GuardedHead, body: Body, ctx: TaskContext): Promise<HttpResult> {
  const host = hostOf(head.url);
  const type = head.headers["content-type"] ?? "";
  const wanted = given.expect?.content_type;
  if (wanted !== undefined && !type.toLowerCase().startsWith(wanted.toLowerCase())) {
    const found = type === "" ? "no content type" : `the content type ${type.slice(0, 100)}`;
    throw new Permanent(`${host} answered with ${found}, not ${wanted}`, { code: "unexpected_answer" });
  }
  const told = { status: head.status, headers: keptHeaders(head.headers), redirects: head.redirects };
  if (given.response === "stored") return { ...told, ...(await store(body, ctx)) };
  // Its body is nobody's: it is not even read.
  if (given.response === "none" || given.method === "HEAD") return { ...told, bytes: 0 };
  const parts: Uint8Array[] = [];
  for await (const piece of body) parts.push(piece);
  const bytes = Buffer.concat(parts);
  if (body.truncated) throw tooLarge(bytes.length);
  const result = { ...told, bytes: bytes.length };
  const how = given.response ?? (/^application\/([\w.-]+\+)?json\b/i.test(type) ? "json" : "text");
  return how === "json" ? { ...result, json: bodyJson(bytes, host) } : { ...result, text: bodyText(bytes, host) };
}

/** Under a key of this attempt: a late one can never replace what an accepted result names. */
async function store(body: Body, ctx: TaskContext): Promise<Pick<HttpResult, "bytes" | "stored">> {
  const key = `${tenantPrefix(ctx.tenant_id)}connectors/${ctx.task_id}/${ctx.attempt}-${randomUUID()}`;
  const ref = await ctx.storage.putStream(key, wholeBody(body));
  return { bytes: ref.bytes, stored: ref };
}

/** Half a file must not be stored as if it were one. */
async function* wholeBody(body: Body): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    yield piece;
  }
  if (body.truncated) throw tooLarge(bytes);
}
