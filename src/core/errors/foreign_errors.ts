// What errors of other libraries say about themselves: abort and time-out by name, HTTP status, SQLSTATE, zod's issues.
// Never their messages. Pure: a Retry-After date is read against the reply's own Date header, not against our clock.
import { type FailureClass, readProperty } from "./failures.js";
import { jsonPath, max_problems, type Problem, type Step } from "./problems.js";

/**
 * How an error that is not ours is classified, as data: workers in other languages read it from /api/work/protocol.json. Looked at in this
 * order: its name, its HTTP status, its SQLSTATE, its errno; then its cause, to five levels. The first that says something decides.
 */
export const category_rules = {
  names: { category: "transient", code: "timeout", are: ["AbortError", "TimeoutError"] },
  http_status: {
    code: "http_{status}",
    throttled: [429],
    /** Where the answer says when to come back; else transient. */
    throttled_with_retry_after: [503],
    transient: [408, 425],
    transient_from: 500,
    otherwise: "permanent",
  },
  sqlstate: {
    code: "sqlstate_{sqlstate}",
    transient_classes: ["08", "40", "53", "57", "58"],
    /** lock_not_available: of a class that else lasts. */
    transient: ["55P03"],
    permanent_classes: ["22", "23", "42"],
  },
  /** The other side, the way to it, or this machine is short of something for now. Node, undici and most clients use these words. */
  errno: {
    code: "{errno}",
    transient: `ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ESOCKETTIMEDOUT ECONNECTION ESOCKET
      EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENETRESET EADDRNOTAVAIL ENOTCONN
      ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA ENODATA ESERVFAIL EREFUSED EDNS
      EAGAIN EBUSY EMFILE ENFILE ENOBUFS ENOMEM EIO ESTALE EDEADLK ETXTBSY ENOSPC EDQUOT
      UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_SOCKET UND_ERR_CLOSED`.split(/\s+/),
  },
  /** Errors that only code makes: another attempt meets the same line. */
  mistakes: {
    category: "transient",
    code: "bug",
    names: "TypeError ReferenceError SyntaxError RangeError EvalError URIError AssertionError".split(" "),
  },
  otherwise: { category: "transient", code: "unexpected" },
} as const;

/** null when the error says nothing we know. */
export function readForeignError(error: unknown): FailureClass | null {
  const name = readProperty(error, "name");
  const { names } = category_rules;
  if (names.are.some((one) => one === name)) return { category: names.category, code: names.code };
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
  const rules = category_rules.http_status;
  const is_in = (statuses: readonly number[]) => statuses.includes(status);
  const asked_to_wait =
    is_in(rules.throttled) || (is_in(rules.throttled_with_retry_after) && retry_after_s !== undefined);
  if (asked_to_wait) return { category: "throttled", code, status, retry_after_s };
  const passing = is_in(rules.transient) || status >= rules.transient_from;
  return { category: passing ? "transient" : rules.otherwise, code, status };
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

const passing_classes: ReadonlySet<string> = new Set(category_rules.sqlstate.transient_classes);
const passing_sqlstates: ReadonlySet<string> = new Set(category_rules.sqlstate.transient);
const lasting_classes: ReadonlySet<string> = new Set(category_rules.sqlstate.permanent_classes);

function sqlVerdict(error: unknown): FailureClass | null {
  const sqlstate = readProperty(error, "code");
  // Five characters like EPERM are errno names; the classes below all start with digits, so they cannot be confused.
  if (typeof sqlstate !== "string" || !/^[0-9A-Z]{5}$/.test(sqlstate)) return null;
  const kind = sqlstate.slice(0, 2);
  const code = `sqlstate_${sqlstate.toLowerCase()}`;
  if (passing_classes.has(kind) || passing_sqlstates.has(sqlstate)) return { category: "transient", code, sqlstate };
  return lasting_classes.has(kind) ? { category: "permanent", code, sqlstate } : null;
}

const passing_errnos: ReadonlySet<string> = new Set(category_rules.errno.transient);

function systemVerdict(error: unknown): FailureClass | null {
  const errno = readProperty(error, "code");
  if (typeof errno !== "string" || !passing_errnos.has(errno)) return null;
  return { category: "transient", code: errno.toLowerCase() };
}

const mistakes: ReadonlySet<string> = new Set(category_rules.mistakes.names);

/** An error that only code makes. What wraps a cause is not one of them. */
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
