// A call to the outside world for a tenant, safely: the URL judged, the name resolved once, the vetted address called, every
// redirect judged anew, all of it within the policy's time and bytes.
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { Permanent, Transient } from "../../../core/errors/errors.js";
import { default_policy, judgeUrl, type OutboundPolicy } from "../../../core/places/outbound.js";
import { accepted_encodings, type Body, bodyOf, collected } from "./body.js";
import { OutboundRefused } from "./errors.js";
import { type Head, type HopRequest, sendTo } from "./hop.js";
import { vettedAddresses } from "./resolve.js";

export interface GuardedRequest {
  url: string;
  /** Default: GET. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string | undefined;
  policy: OutboundPolicy;
  signal?: AbortSignal | undefined;
  /** A secret was put in: nothing of what was sent goes to another host that it redirects to. */
  has_secret?: boolean | undefined;
}

export interface GuardedHead {
  status: number;
  /** Small letters; several of one name are joined with ", ". */
  headers: Record<string, string>;
  /** Where the answer came from in the end. */
  url: string;
  redirects: number;
  /** For the operator: a tenant is not told where a name leads. */
  address: string;
}

export interface GuardedResponse extends GuardedHead {
  body: Uint8Array;
  /** There was more of the body than the policy allows. */
  truncated: boolean;
  timing_ms: number;
}

export async function guardedRequest(request: GuardedRequest): Promise<GuardedResponse> {
  const began = performance.now();
  return guardedExchange(request, async (head, stream) => {
    const body = await collected(stream);
    return { ...head, body, truncated: stream.truncated, timing_ms: performance.now() - began };
  });
}

/** The same for handlers that read the body piece by piece; the connection ends with `read`. */
export async function guardedExchange<T>(
  request: GuardedRequest,
  read: (head: GuardedHead, body: Body) => Promise<T>,
): Promise<T> {
  const policy = { ...default_policy, ...request.policy };
  const began = performance.now();
  const limit = new AbortController();
  const seconds = policy.total_timeout_ms / 1000;
  const timer = setTimeout(() => {
    limit.abort(new Transient(`the call was not done within ${seconds} s`, { code: "timeout" }));
  }, policy.total_timeout_ms);
  const onAbort = () => limit.abort(request.signal?.reason);
  request.signal?.addEventListener("abort", onAbort, { once: true });
  if (request.signal?.aborted) onAbort();
  let head: Head | undefined;
  try {
    limit.signal.throwIfAborted();
    const found = await follow(request, policy, limit.signal);
    head = found.head;
    return await read(found.told, bodyOf(head, policy, found.host, limit.signal));
  } catch (error) {
    if (error instanceof OutboundRefused) await untilTold(began, policy, request.signal);
    // A body that is cut off by the limit says so in many ways.
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", onAbort);
    head?.close();
  }
}

async function untilTold(
  began: number,
  { refusal_ms }: OutboundPolicy,
  signal: AbortSignal | undefined,
): Promise<void> {
  const left = began + refusal_ms - performance.now();
  if (left > 0) await wait(left, undefined, signal === undefined ? {} : { signal }).catch(() => {});
}

async function follow(request: GuardedRequest, policy: OutboundPolicy, signal: AbortSignal) {
  const content = typeof request.body === "string" ? Buffer.from(request.body, "utf8") : request.body;
  let hop = { method: checkedMethod(request.method), headers: checkedHeaders(request.headers), body: content };
  let raw = request.url;
  let from: URL | undefined;
  for (let redirects = 0; ; redirects++) {
    const target = judgeUrl(raw, policy, from);
    if ("refused" in target) throw new OutboundRefused(target.refused);
    const { url } = target;
    if (from !== undefined && from.origin !== url.origin) hop = elsewhere(hop, request.has_secret === true, from.host);
    const vetted = await vettedAddresses(target, policy, signal);
    const head = await sendTo(vetted, { url, ...sized(hop) }, policy, signal);
    const { response, address } = head;
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (policy.max_redirects === 0 || location === undefined || !redirect_statuses.has(status)) {
      const told: GuardedHead = { status, headers: joined(response.headers), url: url.href, redirects, address };
      return { head, told, host: url.host };
    }
    head.close();
    if (redirects === policy.max_redirects) {
      throw new Permanent(`${url.host} redirects more than ${policy.max_redirects} times`, {
        code: "too_many_redirects",
      });
    }
    hop = redirected(hop, status);
    raw = location;
    from = url;
  }
}

type Hop = Omit<HopRequest, "url">;

/** What another host than the one that was called is sent. */
function elsewhere(hop: Hop, has_secret: boolean, host: string): Hop {
  if (!has_secret) return { ...hop, headers: withoutCredentials(hop.headers) };
  if (hop.body === undefined) return { ...hop, headers: checkedHeaders(undefined) };
  const message = `${host} redirects to another host, which would be sent a body with a secret in it`;
  throw new Permanent(message, { code: "redirect_refused" });
}

const redirect_statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** 303 asks for a GET; after 301 and 302 a POST becomes one, as everybody does it; 307 and 308 repeat what was sent. */
function redirected(hop: Hop, status: number): Hop {
  const { method } = hop;
  const becomes_get =
    (status === 303 && method !== "HEAD") || ((status === 301 || status === 302) && method === "POST");
  if (!becomes_get) return hop;
  return { method: "GET", body: undefined, headers: filtered(hop.headers, (name) => !name.startsWith("content-")) };
}

/** What may be shown to another host. Everything else may be a key: who knows what an API calls its header. */
const harmless: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-type",
  "content-encoding",
  "content-language",
  "user-agent",
  "idempotency-key",
]);

function withoutCredentials(headers: Hop["headers"]): Hop["headers"] {
  return filtered(headers, (name) => harmless.has(name));
}

function filtered(headers: Hop["headers"], keep: (name: string) => boolean): Hop["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => keep(name)));
}

const body_methods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

function sized(hop: Hop): Hop {
  if (hop.body === undefined && !body_methods.has(hop.method)) return hop;
  return { ...hop, headers: { ...hop.headers, "content-length": String(hop.body?.byteLength ?? 0) } };
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

function checkedMethod(method = "GET"): string {
  const name = String(method).toUpperCase();
  if (methods.includes(name)) return name;
  throw new Permanent(`the method must be one of ${methods.join(", ")}`, { code: "bad_request" });
}

/** These say how the connection works, which is the guard's to say. */
const own_headers =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/;

function checkedHeaders(given: GuardedRequest["headers"] = {}): Record<string, string> {
  const headers: Record<string, string> = { "accept-encoding": accepted_encodings, "user-agent": "fanfold" };
  for (const [name, value] of Object.entries(given)) {
    const small = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(small) || own_headers.test(small)) {
      throw new Permanent(`the header ${JSON.stringify(name.slice(0, 60))} cannot be set`, { code: "bad_request" });
    }
    // Its value is not shown: it may be a secret.
    if (typeof value !== "string" || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new Permanent(`the value of the header ${small} is not text that HTTP can carry`, { code: "bad_request" });
    }
    headers[small] = value;
  }
  return headers;
}

function joined(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
