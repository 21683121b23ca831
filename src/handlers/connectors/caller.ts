// How a connector calls: secrets put in at the last moment, and only those its configuration names; the policy as narrow as its configuration says, a place at the host
// asked for first and given back afterwards, an answer that was not asked for thrown as what it means.
import { isIP } from "node:net";
import { Permanent } from "../../core/errors/errors.js";
import type { CommonConfig } from "../../core/places/connector_config.js";
import { judgeUrl, narrowed } from "../../core/places/outbound.js";
import type { TaskContext } from "../../core/task/context.js";
import { type AskSecret, withSecrets, withSecretsIn } from "../../core/values/secrets.js";
import { answerError, bodyJson, bodyText } from "./answers.js";
import { type Body, type GuardedHead, guardedExchange } from "./guard/index.js";
import { enterHost, leaveHost } from "./host_gate.js";

type Scalar = string | number | boolean;

export interface CallRequest {
  /** Whole, or from the base_url of the configuration on. */
  url: string;
  /** Default: GET. */
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  query?: Readonly<Record<string, Scalar | readonly Scalar[]>> | undefined;
  /** Sent as JSON. */
  json?: unknown;
  body?: string | Uint8Array | undefined;
  /** Statuses that are an answer; default: 200 to 299. All others are thrown as what they mean. */
  accept?: readonly number[] | ((status: number) => boolean) | undefined;
  /** Default: none. */
  max_redirects?: number | undefined;
  timeout_s?: number | undefined;
  /** A longer answer is an error. */
  max_bytes?: number | undefined;
}

export interface CallResponse {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
  text(): string;
  json(): unknown;
}

export interface Call {
  (request: CallRequest): Promise<CallResponse>;
  /** For answers that are too large to hold: `read` gets the pieces as they come. */
  stream<T>(request: CallRequest, read: (head: GuardedHead, body: Body) => Promise<T>): Promise<T>;
}

/** What every connector's configuration may hold besides its own. */
export interface CallerConfig extends CommonConfig {
  base_url?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  query?: Readonly<Record<string, Scalar | readonly Scalar[]>> | undefined;
}

const error_bytes = 4 * 1024;

/** `name`: of its configuration, whose limits all its calls share; null: the limits are the host's. */
export function makeCall(ctx: TaskContext, config: CallerConfig, connector: string, name: string | null): Call {
  const scope = name === null ? null : `${connector}/${name}`;
  let unsafe_calls = 0;
  const stream: Call["stream"] = async (request, read) => {
    const method = (request.method ?? "GET").toUpperCase();
    const ask = asking(ctx, config, connector);
    const url = await completeUrl(ask, config, request);
    const { body, headers } = await content(ask, config, request);
    if (!safe_methods.has(method)) {
      unsafe_calls += 1;
      // A second call of the same task is another effect.
      headers["idempotency-key"] ??= unsafe_calls === 1 ? ctx.effect_key : `${ctx.effect_key}-${unsafe_calls}`;
    }
    if (typeof ctx.traceparent === "string") headers.traceparent ??= ctx.traceparent;
    const policy = policyOf(ctx, config, request);
    const gate = {
      scope: scope ?? hostOf(url),
      limits: config.limits,
      breaker: config.breaker,
      lease_s: policy.total_timeout_ms / 1000 + 30,
    };
    // What will be refused takes no place at a host, and makes none known.
    const is_refused = "refused" in judgeUrl(url, policy);
    const slot_id = is_refused ? null : await ctx.db((session) => enterHost(session, gate));
    let error: unknown;
    try {
      const sent = { url, method, headers, body, policy, signal: ctx.signal, has_secret: ask.was_asked };
      return await guardedExchange(sent, async (head, stream) => {
        if (isAccepted(request.accept, head.status)) return read(head, stream);
        throw answerError(head, hostOf(url), await firstBytes(stream));
      });
    } catch (thrown) {
      error = thrown ?? new Error("failed");
      throw thrown;
    } finally {
      if (slot_id !== null) await leaveHost(ctx, slot_id, error);
    }
  };
  const call = async (request: CallRequest): Promise<CallResponse> =>
    stream(request, async ({ status, headers }, pieces) => {
      const parts: Uint8Array[] = [];
      for await (const piece of pieces) parts.push(piece);
      const body = Buffer.concat(parts);
      if (pieces.truncated) throw tooLarge(body.length);
      return { status, headers, body, text: () => bodyText(body, "the host"), json: () => bodyJson(body, "the host") };
    });
  return Object.assign(call, { stream });
}

export function tooLarge(bytes: number): Permanent {
  return new Permanent(`the answer has more than ${bytes} bytes, which is the limit`, { code: "response_too_large" });
}

const safe_methods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function policyOf(ctx: TaskContext, { outbound = {} }: CallerConfig, request: CallRequest) {
  const max_redirects = request.max_redirects ?? outbound.max_redirects ?? 0;
  const configured = narrowed(ctx.outbound, { ...outbound, max_redirects });
  return narrowed(configured, { timeout_s: request.timeout_s, max_response_bytes: request.max_bytes });
}

/** Who may name a secret: the configuration in its own texts, and a task only what the configuration lets it. */
interface Asking {
  by_config: AskSecret;
  by_task: AskSecret;
  was_asked: boolean;
}

function asking(ctx: TaskContext, config: CallerConfig, connector: string): Asking {
  const ask: Asking = {
    was_asked: false,
    by_config: (name) => {
      ask.was_asked = true;
      return ctx.secret(name);
    },
    by_task: (name) => {
      if (config.secrets?.includes(name)) return ask.by_config(name);
      const fix =
        `an admin names it in one, with the host it may go to (fanfold connectors set ${connector} <name> base_url=https://… ` +
        `headers.authorization='Bearer secret://${name}', or secrets='["${name}"]' for tasks to place it themselves), ` +
        "and the task says config=<name>";
      throw new Permanent(`the task names secret://${name}, and its configuration does not: ${fix}`, {
        code: "secret_not_configured",
      });
    },
  };
  return ask;
}

async function completeUrl(ask: Asking, config: CallerConfig, request: CallRequest): Promise<string> {
  const given = await withSecrets(request.url, ask.by_task, encodeURIComponent);
  const { base_url } = config;
  const base = base_url === undefined ? undefined : await withSecrets(base_url, ask.by_config, encodeURIComponent);
  const url = joined(given, base);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...config.query, ...request.query })) {
    const by = request.query !== undefined && Object.hasOwn(request.query, name) ? ask.by_task : ask.by_config;
    for (const one of [value].flat() as Scalar[]) query.append(name, await withSecrets(String(one), by));
  }
  const added = query.toString();
  if (added === "") return url;
  const [whole = "", ...fragment] = url.split("#");
  return `${whole}${whole.includes("?") ? "&" : "?"}${added}${fragment.length > 0 ? `#${fragment.join("#")}` : ""}`;
}

/** A configuration's headers may be keys: they are sent to its own host only. */
function joined(given: string, base: string | undefined): string {
  if (base === undefined) return given;
  try {
    const home = new URL(base.endsWith("/") ? base : `${base}/`);
    // A path that starts with a slash still lies below the base, as people write it.
    const url = /^[a-z][a-z0-9+.-]*:/i.test(given) ? new URL(given) : new URL(given.replace(/^\/+/, ""), home);
    if (url.origin === home.origin && url.pathname.startsWith(home.pathname)) return url.href;
    const below = url.origin === home.origin && `${url.pathname}/` === home.pathname;
    if (below) return url.href;
  } catch {
    // Said below.
  }
  throw new Permanent("the URL does not lie below the base_url of the configuration", { code: "bad_request" });
}

async function content({ by_config, by_task }: Asking, config: CallerConfig, request: CallRequest) {
  const headers: Record<string, string> = {};
  for (const [given, by] of [[config.headers, by_config] as const, [request.headers, by_task] as const]) {
    for (const [name, value] of Object.entries(given ?? {})) headers[name.toLowerCase()] = await withSecrets(value, by);
  }
  if (request.json !== undefined) {
    headers["content-type"] ??= "application/json";
    return { headers, body: JSON.stringify(await withSecretsIn(request.json, by_task)) };
  }
  const { body } = request;
  return { headers, body: typeof body === "string" ? await withSecrets(body, by_task) : body };
}

function isAccepted(accept: CallRequest["accept"], status: number): boolean {
  if (accept === undefined) return status >= 200 && status < 300;
  return typeof accept === "function" ? accept(status) : accept.includes(status);
}

async function firstBytes(body: Body): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of body) {
      parts.push(piece);
      bytes += piece.length;
      if (bytes >= error_bytes) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(parts);
}

/** The host and port of a URL, or nothing of it: what cannot be parsed is refused later, and a secret must not be shown. */
export function hostOf(url: string): string {
  try {
    const { host, hostname } = new URL(url);
    return host === "" ? "the host" : isIP(hostname) === 0 ? host.toLowerCase().slice(0, 280) : host;
  } catch {
    return "the host";
  }
}
