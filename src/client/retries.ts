// When a call is tried again, and how long that waits. A call whose repetition could do something twice is repeated only when
// the server surely did not do it.
import type { Endpoint } from "../core/api/endpoint.js";

export interface RetryPolicy {
  /** How often a call is tried again, after the first try. */
  retries: number;
  /** Longer than this nobody waits by himself: the error is told instead, with its retry_after_s. */
  longest_wait_ms: number;
}

/** What became of a try that did not succeed. */
export type Trouble =
  | { kind: "answer"; status: number; code: string | null; retry_after_s?: number }
  | { kind: "network"; sent: boolean };

const passing_statuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function isRepeatable(endpoint: Endpoint, body: unknown, said?: boolean): boolean {
  if (said !== undefined) return said;
  const { mode, dry_run } = (body ?? {}) as { mode?: unknown; dry_run?: unknown };
  // A submit is the same job however often it is sent, unless it asks for a new run; and counting changes nothing.
  return (endpoint.repeatable && mode !== "force") || dry_run === true;
}

export function mayRepeat(trouble: Trouble, repeatable: boolean): boolean {
  if (trouble.kind === "network") return repeatable || !trouble.sent;
  if (!passing_statuses.has(trouble.status)) return false;
  // A limit is looked at before anything is done. A 503 may also mean that the database went away during the commit: only
  // one that says it began nothing is as sure.
  return repeatable || trouble.status === 429 || (trouble.status === 503 && trouble.code === "stopping");
}

const first_wait_ms = 200;
const last_wait_ms = 10_000;

/** Full jitter below a doubling bound; what the server asked for is the least. `chance` is in [0, 1). null: too long. */
export function waitMs(trouble: Trouble, retry: number, policy: RetryPolicy, chance: number): number | null {
  const bound = Math.min(last_wait_ms, first_wait_ms * 2 ** Math.min(retry, 20));
  const asked = trouble.kind === "answer" ? (trouble.retry_after_s ?? 0) * 1000 : 0;
  if (asked > policy.longest_wait_ms) return null;
  // Not all who were sent away at once come back at once.
  return asked > 0 ? asked + chance * Math.min(1000, asked / 4) : chance * bound;
}

/** Retry-After in seconds: a number, or a date read against the answer's own clock. */
export function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  if (!/^[A-Z][a-z]{2},? /.test(text)) return undefined;
  const [at, sent] = [Date.parse(text), Date.parse(headers.get("date") ?? "")];
  return Number.isNaN(at) || Number.isNaN(sent) ? undefined : Math.max(0, (at - sent) / 1000);
}

const never_connected: ReadonlySet<unknown> = new Set(
  "ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT".split(" "),
);

/** The system's code in what fetch threw, at whatever depth; null when it says none. */
export function networkCode(error: unknown): string | null {
  let found = error as { code?: unknown; cause?: unknown; errors?: unknown } | null | undefined;
  for (let level = 0; level < 5 && found !== null && found !== undefined; level++) {
    if (typeof found.code === "string") return found.code;
    // Several addresses were tried (an AggregateError): they fail alike.
    found = (found.cause ?? (Array.isArray(found.errors) ? found.errors[0] : undefined)) as typeof found;
  }
  return null;
}

/** Whether the server can have seen the call: surely not when no connection came about. */
export function mayHaveArrived(error: unknown): boolean {
  return !never_connected.has(networkCode(error));
}
