// How a call goes over HTTP: fetch, a time limit for each try, retries, and errors as classes. The key lives in this closure
// and goes nowhere but into the Authorization header.
import type { Endpoint, ReplyOf } from "../core/api/endpoint.js";
import { BadRequest, ContractViolation, type FanfoldError, isFanfoldError, NotFound } from "../core/errors/errors.js";
import { kindOf, type Problem, shorten, suggestion } from "../core/errors/problems.js";
import { type Deadline, deadline, pause } from "./abort.js";
import type { Answered, Caller, CallOptions } from "./call.js";
import {
  isRepeatable,
  mayHaveArrived,
  mayRepeat,
  networkCode,
  type RetryPolicy,
  retryAfter,
  type Trouble,
  waitMs,
} from "./retries.js";
import { ConnectionError, ServiceError, toldError } from "./told_errors.js";

export interface ClientOptions {
  /** Where the service is, e.g. https://jobs.example.com */
  url: string;
  /** An API key or a token; a function is asked before each try, so that a rotated one is taken up. null: sends none. */
  key: string | null | (() => string | Promise<string>);
  fetch?: typeof globalThis.fetch;
  /** How often a safe call is tried again. Default: 4. */
  retries?: number;
  /** How long one try may take. Default: 30,000. */
  timeout_ms?: number;
  /** When the server asks to wait longer than this, the error is told at once. Default: 60,000. */
  longest_wait_ms?: number;
}

/** A call whose body is JSON already. */
export type Written<E> = CallOptions<E> & { text?: string };

export interface PutOptions {
  headers: Record<string, string>;
  body: Blob;
  timeout_ms: number;
  signal: AbortSignal;
}

export interface BytesOptions {
  method: "GET" | "PUT";
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  signal: AbortSignal;
}

export interface Transport {
  /** Without a slash at the end, and without anything that identifies anybody. */
  url: string;
  call: Caller;
  answer<E extends Endpoint>(endpoint: E, options?: Written<E>): Promise<Answered<E>>;
  /** Bytes to where an answer says: with the key where that is the service, with nothing of ours where it is not. Tried again as any call. */
  put(address: string, options: PutOptions): Promise<void>;
  /** One try whose body the caller reads as it comes; `signal` ends it at any time. */
  open<E extends Endpoint>(endpoint: E, options: CallOptions<E> & { signal: AbortSignal }): Promise<Response>;
  /**
   * One try with bytes, to where an answer said: with the key where the address is of this service (it begins with a slash), with nothing
   * of ours where it is a store's. Gives whatever was answered; nothing is followed.
   */
  bytes(address: string, options: BytesOptions): Promise<Response>;
}

/** One that is refused, in the service's own words where it has said them. */
export function refusedBytes(address: string, response: Response, text: string): FanfoldError {
  const place = address.startsWith("/") ? address.split("?")[0]! : new URL(address).origin;
  return refused(place, response, text).error;
}

/** `known`: the options there are, where no others may stand beside them. */
export function createTransport(options: ClientOptions, known?: readonly string[]): Transport {
  const { url, readKey, timeout_ms, policy } = checkedOptions(options, known);
  const send = options.fetch ?? globalThis.fetch;

  /** The same for every try; what cannot be sent is told here, and not taken for trouble on the way. */
  function prepared(endpoint: Endpoint, given: Written<Endpoint>): Prepared {
    const { params, query, body, headers } = given;
    const text = given.text ?? (body === undefined ? undefined : asJson(endpoint, body));
    return {
      address: addressOf(url, endpoint, { params, query }),
      init: {
        method: endpoint.method,
        headers: {
          accept: endpoint.media_type,
          ...(text === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: text,
        // Followed, it could take the key to where nobody meant it to go.
        redirect: "manual",
      },
    };
  }

  function request({ address, init }: Prepared, key: string | null, signal: AbortSignal): Promise<Response> {
    const headers = key === null ? init.headers : { ...init.headers, authorization: `Bearer ${key}` };
    return send(address, { ...init, headers, signal });
  }

  /** One try: an answer, or the trouble with the error that tells of it. */
  async function attempt(endpoint: Endpoint, call: Prepared, limit: Deadline, outer?: AbortSignal) {
    const key = await readKey();
    try {
      const response = await request(call, key, limit.signal);
      const text = await response.text();
      return isUsual(endpoint, response.status)
        ? { answer: answered(endpoint, response, text) }
        : refused(url, response, text);
    } catch (error) {
      outer?.throwIfAborted();
      if (error instanceof ContractViolation) throw error;
      const trouble: Trouble = { kind: "network", sent: mayHaveArrived(error) };
      return { trouble, error: networkError(url, error, limit) };
    }
  }

  async function answer<E extends Endpoint>(endpoint: E, given: Written<E> = {}): Promise<Answered<E>> {
    const { signal, body } = given;
    const call = prepared(endpoint, given as Written<Endpoint>);
    const repeatable = isRepeatable(endpoint, body, given.repeatable);
    for (let retry = 0; ; retry++) {
      signal?.throwIfAborted();
      const limit = deadline(given.timeout_ms ?? timeout_ms, signal);
      const outcome = await attempt(endpoint, call, limit, signal).finally(limit.clear);
      if ("answer" in outcome) return outcome.answer as Answered<E>;
      const { trouble, error } = outcome;
      const may = retry < policy.retries && mayRepeat(trouble, repeatable);
      const wait = may ? waitMs(trouble, retry, policy, Math.random()) : null;
      if (wait === null) throw error;
      await pause(wait, signal);
    }
  }

  /** null: it is there. The type is told, because a browser would add one of its own. */
  async function putOnce(
    target: string,
    key: string | null,
    given: Record<string, string>,
    body: Blob,
    limit: Deadline,
  ) {
    const headers: Record<string, string> = { "content-type": "application/octet-stream", ...given };
    if (key !== null) headers.authorization = `Bearer ${key}`;
    try {
      const response = await send(target, { method: "PUT", headers, body, redirect: "manual", signal: limit.signal });
      const text = await response.text();
      // The address of a store may hold a signature: it is not shown.
      return response.ok ? null : refused(new URL(target).origin, response, text);
    } catch (error) {
      return {
        trouble: { kind: "network", sent: true } as Trouble,
        error: networkError(new URL(target).origin, error, limit),
      };
    }
  }

  return {
    url,
    answer,
    call: async (endpoint, given) => (await answer(endpoint, given)).body,
    async put(address, { headers, body, timeout_ms: ms, signal }) {
      const is_ours = address.startsWith("/");
      const target = is_ours ? url + address : address;
      for (let retry = 0; ; retry++) {
        signal.throwIfAborted();
        const limit = deadline(ms, signal);
        const outcome = await putOnce(target, is_ours ? await readKey() : null, headers, body, limit).finally(
          limit.clear,
        );
        if (outcome === null) return;
        signal.throwIfAborted();
        const may = retry < policy.retries && mayRepeat(outcome.trouble, true);
        const wait = may ? waitMs(outcome.trouble, retry, policy, Math.random()) : null;
        if (wait === null) throw outcome.error;
        await pause(wait, signal);
      }
    },
    async bytes(address, { method, headers = {}, body, signal }) {
      const is_ours = address.startsWith("/");
      const target = is_ours ? url + address : address;
      const key = is_ours ? await readKey() : null;
      const known: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
      const sent = { method, headers: { ...headers, ...known }, redirect: "manual" as const, signal };
      try {
        const streamed = body instanceof ReadableStream ? { duplex: "half" } : {};
        return await send(target, body === undefined ? sent : ({ ...sent, body, ...streamed } as RequestInit));
      } catch (error) {
        signal.throwIfAborted();
        const code = networkCode(error);
        // The address of a store may hold a signature: it is not shown.
        throw new ConnectionError(
          "connection",
          `cannot reach ${new URL(target).origin}${code === null ? "" : ` (${code})`}`,
        );
      }
    },
    async open(endpoint, given) {
      const { signal } = given;
      const call = prepared(endpoint, given as Written<Endpoint>);
      const key = await readKey();
      const limit = deadline(given.timeout_ms ?? timeout_ms, signal);
      try {
        const response = await request(call, key, limit.signal);
        if (isUsual(endpoint, response.status)) return response;
        throw refused(url, response, await response.text()).error;
      } catch (error) {
        signal.throwIfAborted();
        throw isFanfoldError(error) ? error : networkError(url, error, limit);
      } finally {
        // The signal goes on being followed: it ends the body.
        limit.stopClock();
      }
    },
  };
}

interface Prepared {
  address: string;
  init: { method: string; headers: Record<string, string>; body?: string; redirect: "manual" };
}

function asJson(endpoint: Endpoint, body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BadRequest(`what ${endpoint.method} ${endpoint.path} is to send is not JSON: ${why}`);
  }
}

function isUsual(endpoint: Endpoint, status: number): boolean {
  return status === endpoint.status || (status < 300 && status >= 200) || Object.hasOwn(endpoint.other_answers, status);
}

function addressOf(url: string, endpoint: Endpoint, { params, query }: CallOptions<Endpoint>): string {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = (params as Record<string, unknown> | undefined)?.[name];
    if (value === undefined || value === null || value === "") {
      throw new BadRequest(`${endpoint.method} ${endpoint.path} needs ${name}`, {
        hint: `give params: { ${name}: … }`,
      });
    }
    const text = String(value);
    // fetch takes these for steps in the path, escaped or not.
    if (text === "." || text === "..") throw new NotFound(`there is no ${name} ${text}`);
    return encodeURIComponent(text);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((query as Record<string, unknown> | undefined) ?? {})) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return url + path + (text === "" ? "" : `?${text}`);
}

function answered<E extends Endpoint>(endpoint: E, response: Response, text: string): Answered<E> {
  const { status, headers } = response;
  const is_json = /\bjson\b/i.test(headers.get("content-type") ?? "");
  if (text !== "" && !is_json && endpoint.media_type === "application/json") {
    throw new ContractViolation(`${endpoint.method} ${endpoint.path} was not answered with JSON`, {
      hint: "see that the url is the one of a Fanfold server, and that no proxy answers in its place",
    });
  }
  try {
    return { status, headers, body: (is_json && text !== "" ? JSON.parse(text) : text) as ReplyOf<E> };
  } catch {
    throw new ContractViolation(`${endpoint.method} ${endpoint.path} was answered with JSON that cannot be read`);
  }
}

function refused(url: string, response: Response, text: string): { trouble: Trouble; error: FanfoldError } {
  const { status, headers } = response;
  const retry_after_s = retryAfter(headers);
  if (status >= 300 && status < 400) {
    const error = new ServiceError("redirected", status, `${url} answered with a redirect`, {
      hint: "give the url the service is really at: a key is not sent on to another place",
    });
    return { trouble: { kind: "answer", status, code: null }, error };
  }
  const error = toldError(status, text, headers.get("x-request-id"), retry_after_s);
  const wait = (error as { retry_after_s?: number }).retry_after_s ?? retry_after_s;
  return {
    trouble: { kind: "answer", status, code: error.code, retry_after_s: wait },
    error,
  };
}

function networkError(url: string, error: unknown, limit: Deadline): ConnectionError {
  if (limit.passed()) {
    return new ConnectionError("timeout", `${url} did not answer within ${limit.ms / 1000} s`, {
      hint: "it may have done what was asked; a larger timeout_ms waits longer",
    });
  }
  const code = networkCode(error);
  // What fetch threw is not passed on as the cause: it may hold the request, and with it the key.
  return new ConnectionError("connection", `cannot reach ${url}${code === null ? "" : ` (${code})`}`, {
    hint: "see that the service runs there and that nothing stands in between",
  });
}

export const client_options = [
  "url",
  "key",
  "fetch",
  "retries",
  "timeout_ms",
  "longest_wait_ms",
] as const satisfies readonly (keyof ClientOptions)[];

function checkedOptions(options: ClientOptions, known?: readonly string[]) {
  const problems: Problem[] = [];
  const { key, retries = 4, timeout_ms = 30_000, longest_wait_ms = 60_000 } = options;
  const add = (path: string, problem: string, fix: string) => problems.push({ path, problem, fix });
  for (const name of Object.keys(options)) {
    if (known?.includes(name) === false) add(shorten(name), "is not an option of a client", suggestion(name, known));
  }
  const url = typeof options.url === "string" && URL.canParse(options.url) ? new URL(options.url) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    add("url", "is not an http(s) address", "Give e.g. https://jobs.example.com");
  } else if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    add("url", "has more than a place in it", "Leave user, password, ? and # out; the key goes into key.");
  }
  if (key !== null && typeof key !== "function" && !isSendable(key)) {
    const found = typeof key === "string" ? "has characters that no key has" : `is ${kindOf(key)}`;
    add("key", found, "Give the key as it was shown: ff_…");
  }
  for (const [name, value, most] of [
    ["retries", retries, 100],
    ["timeout_ms", timeout_ms, 2 ** 31 - 1],
    ["longest_wait_ms", longest_wait_ms, 2 ** 31 - 1],
  ] as const) {
    const least = name === "timeout_ms" ? 1 : 0;
    if (Number.isInteger(value) && value >= least && value <= most) continue;
    add(name, `must be a whole number of ${least} to ${most}`, "Leave it out for the default.");
  }
  if (problems.length > 0 || url === null) {
    throw new BadRequest("This client cannot be made", { problems });
  }
  const readKey = async (): Promise<string | null> => {
    const given = typeof key === "function" ? await key() : key;
    if (given !== null && !isSendable(given)) throw new BadRequest("the function `key` gave no key");
    return given;
  };
  const policy: RetryPolicy = { retries, longest_wait_ms };
  return { url: url.origin + url.pathname.replace(/\/+$/, ""), readKey, timeout_ms, policy };
}

/** fetch would refuse anything else with a message that repeats it. */
function isSendable(key: unknown): key is string {
  return typeof key === "string" && /^[\x21-\x7e]{1,8192}$/.test(key);
}
