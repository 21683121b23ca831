// What errors of other libraries say about themselves: abort and time-out by name, HTTP status, SQLSTATE, zod's issues.
// Never their messages. Pure: a Retry-After date is read against the reply's own Date header, not against our clock.
import { type FailureClass, readProperty } from "./failures.js";
import { jsonPath, max_problems, type Problem, type Step } from "./problems.js";

/** null when the error says nothing we know. */
export function readForeignError(error: unknown): FailureClass | null {
  const name = readProperty(error, "name");
  if (name === "AbortError" || name === "TimeoutError") return { category: "transient", code: "timeout" };
  if (name === "ZodError" || name === "$ZodError") {
    const issues = readProperty(error, "issues");
    if (Array.isArray(issues)) {
      return { category: "contract", code: "contract", problems: zodProblems(issues).slice(0, max_problems) };
    }
  }
  return httpVerdict(error) ?? sqlVerdict(error) ?? systemVerdict(error);
}

function httpVerdict(error: unknown): FailureClass | null {
  const response = readProperty(error, "response");
  const found = [readProperty(error, "status"), readProperty(error, "statusCode"), readProperty(response, "status")];
  const status = found.find(isErrorStatus);
  if (status === undefined) return null;
  const code = `http_${status}`;
  const retry_after_s = retryAfter(readProperty(error, "headers")) ?? retryAfter(readProperty(response, "headers"));
  const asked_to_wait = status === 429 || (status === 503 && retry_after_s !== undefined);
  if (asked_to_wait) return { category: "throttled", code, status, retry_after_s };
  const passing = status === 408 || status === 425 || status >= 500;
  return { category: passing ? "transient" : "permanent", code, status };
}

function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;
}

/** Seconds, of a Retry-After in seconds or as a date (read against the reply's own Date). */
export function retryAfter(headers: unknown): number | undefined {
  const text = header(headers, "retry-after");
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  const sent = Date.parse(header(headers, "date") ?? "");
  return Number.isNaN(at) || Number.isNaN(sent) ? undefined : Math.max(0, (at - sent) / 1000);
}

/** Headers come as fetch's Headers, as a Map, or as an object in anybody's spelling. */
function header(headers: unknown, name: string): string | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  try {
    const get = readProperty(headers, "get");
    const found = typeof get === "function" ? get.call(headers, name) : undefined;
    const value = found ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "string" || typeof first === "number" ? String(first).trim() : undefined;
  } catch {
    return undefined;
  }
}

const passing_classes: ReadonlySet<string> = new Set(["08", "40", "53", "57", "58"]);
/** lock_not_available: of a class that else lasts. */
const lock_timeout = "55P03";
const lasting_classes: ReadonlySet<string> = new Set(["22", "23", "42"]);

function sqlVerdict(error: unknown): FailureClass | null {
  const sqlstate = readProperty(error, "code");
  // Five characters like EPERM are errno names; the classes below all start with digits, so they cannot be confused.
  if (typeof sqlstate !== "string" || !/^[0-9A-Z]{5}$/.test(sqlstate)) return null;
  const kind = sqlstate.slice(0, 2);
  const code = `sqlstate_${sqlstate.toLowerCase()}`;
  if (passing_classes.has(kind) || sqlstate === lock_timeout) return { category: "transient", code, sqlstate };
  return lasting_classes.has(kind) ? { category: "permanent", code, sqlstate } : null;
}

/** The other side, the way to it, or this machine is short of something for now. Node, undici and most clients use these words. */
const passing_errnos: ReadonlySet<string> = new Set(
  `ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ESOCKETTIMEDOUT ECONNECTION ESOCKET
  EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENETRESET EADDRNOTAVAIL ENOTCONN
  ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA ENODATA ESERVFAIL EREFUSED EDNS
  EAGAIN EBUSY EMFILE ENFILE ENOBUFS ENOMEM EIO ESTALE EDEADLK ETXTBSY ENOSPC EDQUOT
  UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_SOCKET UND_ERR_CLOSED`.split(/\s+/),
);

function systemVerdict(error: unknown): FailureClass | null {
  const errno = readProperty(error, "code");
  if (typeof errno !== "string" || !passing_errnos.has(errno)) return null;
  return { category: "transient", code: errno.toLowerCase() };
}

/** Errors that only code makes: another attempt meets the same line. What wraps a cause is not one of them. */
const mistakes: ReadonlySet<string> = new Set(
  "TypeError ReferenceError SyntaxError RangeError EvalError URIError AssertionError".split(" "),
);

export function isMistake(error: unknown): boolean {
  const name = readProperty(error, "name");
  return typeof name === "string" && mistakes.has(name) && readProperty(error, "cause") === undefined;
}

/** zod's issues in our shape; shared by handler parameters and job parameters. */
export function zodProblems(issues: readonly unknown[]): Problem[] {
  return issues.map((issue) => {
    const path = readProperty(issue, "path");
    const message = readProperty(issue, "message");
    const steps: Step[] = Array.isArray(path)
      ? path.map((step) => (typeof step === "number" ? step : String(step)))
      : [];
    return { path: jsonPath(steps), problem: typeof message === "string" ? message : "is not right", fix: "" };
  });
}
