// The closed list of errors: class, code, SQLSTATE, HTTP status and category stand in one table. SQL raises the SQLSTATE,
// the server answers the status, the worker reads the category, and nobody reads messages. Pure.
import type { Action } from "../shown/action.js";
import type { Category } from "../shown/statuses.js";
import { type Failure, type FailureClass, failure_code, failureOf, readProperty } from "./failures.js";
import { category_rules, isMistake, readForeignError } from "./foreign_errors.js";
import { formatProblems, type Problem } from "./problems.js";

interface ErrorFacts {
  sqlstate: string | null;
  http_status: number;
  category: Category;
}

export const error_table = {
  not_found: { sqlstate: "FF001", http_status: 404, category: "permanent" },
  bad_request: { sqlstate: "FF002", http_status: 400, category: "permanent" },
  conflict: { sqlstate: "FF003", http_status: 409, category: "permanent" },
  too_large: { sqlstate: "FF004", http_status: 413, category: "permanent" },
  forbidden: { sqlstate: "FF005", http_status: 403, category: "permanent" },
  not_allowed_now: { sqlstate: "FF006", http_status: 409, category: "permanent" },
  stale_worker: { sqlstate: "FF007", http_status: 409, category: "transient" },
  /** A limit of the tenant's that time or less work lifts. */
  over_limit: { sqlstate: "FF008", http_status: 429, category: "throttled" },
  /** A limit of the tenant's that this very call breaks. */
  beyond_limit: { sqlstate: "FF009", http_status: 422, category: "permanent" },
  unauthenticated: { sqlstate: null, http_status: 401, category: "permanent" },
  unavailable: { sqlstate: "FF010", http_status: 503, category: "transient" },
  bad_value: { sqlstate: null, http_status: 400, category: "permanent" },
  bad_parameters: { sqlstate: null, http_status: 400, category: "permanent" },
  bad_declaration: { sqlstate: null, http_status: 400, category: "contract" },
  contract: { sqlstate: null, http_status: 500, category: "contract" },
  storage: { sqlstate: null, http_status: 500, category: "transient" },
  transient: { sqlstate: null, http_status: 503, category: "transient" },
  throttled: { sqlstate: null, http_status: 429, category: "throttled" },
  permanent: { sqlstate: null, http_status: 500, category: "permanent" },
} as const satisfies Record<string, ErrorFacts>;

export type ErrorCode = keyof typeof error_table;

export interface ErrorDetails {
  problems?: readonly Problem[];
  hint?: string | undefined;
  /** The hint without the words of its action, where it has them. */
  advice?: string | undefined;
  action?: Action | null | undefined;
  request_id?: string;
  cause?: unknown;
}

/** Set on every error of ours, so that a second copy of this package in a handler's dependencies is still understood. */
const brand = Symbol.for("fanfold.error");

export class FanfoldError extends Error {
  readonly code: string;
  readonly sqlstate: string | null;
  readonly http_status: number;
  readonly category: Category;
  /** The message without the problems, which are listed below it there. */
  readonly title: string;
  readonly problems: readonly Problem[];
  readonly hint: string | null;
  /** The hint without its command, and what that command does: for those who put it in other words. */
  readonly advice: string | null;
  readonly action: Action | null;
  /** The call it was told of, when it came over HTTP: the operator finds it in the log by this. */
  readonly request_id: string | null;

  constructor(code: ErrorCode, title: string, details: ErrorDetails = {}) {
    const { problems = [], cause } = details;
    super(problems.length === 0 ? title : formatProblems(title, problems), cause === undefined ? undefined : { cause });
    const facts = error_table[code];
    this.name = new.target.name;
    this.code = code;
    this.sqlstate = facts.sqlstate;
    this.http_status = facts.http_status;
    this.category = facts.category;
    this.title = title;
    this.problems = problems;
    this.hint = details.hint ?? null;
    this.advice = details.advice ?? this.hint;
    this.action = details.action ?? null;
    this.request_id = details.request_id ?? null;
  }

  get [brand](): true {
    return true;
  }
}

function coded(code: ErrorCode) {
  return class extends FanfoldError {
    constructor(title: string, details?: ErrorDetails) {
      super(code, title, details);
    }
  };
}

export class NotFound extends coded("not_found") {}
export class BadRequest extends coded("bad_request") {}
export class Conflict extends coded("conflict") {}
export class TooLarge extends coded("too_large") {}
export class Forbidden extends coded("forbidden") {}
export class NotAllowedNow extends coded("not_allowed_now") {}
export class StaleWorker extends coded("stale_worker") {}
export class BeyondLimit extends coded("beyond_limit") {}
export class Unauthenticated extends coded("unauthenticated") {}
export class Unavailable extends coded("unavailable") {}

/** Told before anything was begun: the same call may be sent again, here or elsewhere, whatever it does. */
export class Stopping extends Unavailable {
  override readonly code = "stopping";
}

/** The tenant is on its way to another cell, or there already: the same call may be sent again. */
export class Moving extends Stopping {
  readonly retry_after_s = 1;
}

/** Refused for now: the tenant's limit, and when to come back. */
export class OverLimit extends FanfoldError {
  readonly retry_after_s: number;

  constructor(message: string, details: ErrorDetails & { retry_after_s?: number } = {}) {
    super("over_limit", message, details);
    this.retry_after_s = details.retry_after_s ?? 1;
  }
}

/** Two parts of the system disagree about a record: a bug, failed loudly and not tried again. */
export class ContractViolation extends coded("contract") {}

/** An error told elsewhere keeps the words it was told in. */
type Titled = ErrorDetails & { title?: string };

/** A value that is not JSON as we store it. */
export class ValueProblems extends FanfoldError {
  constructor(problems: readonly Problem[], title = "This value cannot be stored", details?: ErrorDetails) {
    super("bad_value", title, { ...details, problems });
  }
}

/** A text that cannot be read as JSON at all; the last of its problems says where. */
export class NotJson extends ValueProblems {}

/** Parameters that do not fit the blueprint. */
export class ParameterError extends FanfoldError {
  constructor(job_type: string, problems: readonly Problem[], { title, ...details }: Titled = {}) {
    super("bad_parameters", title ?? `The parameters of ${job_type} are not right`, { ...details, problems });
  }
}

/** Everything that is wrong with the declared jobs and handlers, at once. */
export class DeclarationError extends FanfoldError {
  constructor(problems: readonly Problem[], { title, ...details }: Titled = {}) {
    const words = problems.length === 1 ? "A declaration is wrong" : `${problems.length} declarations are wrong`;
    super("bad_declaration", title ?? words, { ...details, problems });
  }
}

export type StorageReason = "missing" | "altered" | "bad_key" | "unavailable";

/** A stored file that is not what its reference says, or cannot be reached. Only the latter is worth a retry. */
export class StorageError extends FanfoldError {
  readonly reason: StorageReason;
  override readonly category: Category;
  /** What was found instead, and where on this machine: for the log, never for a tenant. */
  readonly seen: Readonly<Record<string, string>>;

  constructor(
    reason: StorageReason,
    message: string,
    { seen = {}, ...details }: ErrorDetails & { seen?: Record<string, string> } = {},
  ) {
    super("storage", message, details);
    this.reason = reason;
    this.seen = seen;
    this.category = reason === "unavailable" ? "transient" : "permanent";
  }
}

export interface HandlerErrorDetails {
  /** A short word to group failures by; small letters, digits, _ and dots. */
  code?: string;
  cause?: unknown;
}

class HandlerError extends FanfoldError {
  override readonly code: string;

  constructor(kind: "transient" | "throttled" | "permanent", message: string, details: HandlerErrorDetails = {}) {
    super(kind, message, { cause: details.cause });
    this.code = details.code !== undefined && failure_code.test(details.code) ? details.code : kind;
  }
}

/** Thrown by a handler: try again later, within the budget. */
export class Transient extends HandlerError {
  constructor(message: string, details?: HandlerErrorDetails) {
    super("transient", message, details);
  }
}

export class TimeoutError extends Transient {
  constructor(readonly timeout_s: number) {
    super(`the task ran longer than its time-out of ${timeout_s} s`, { code: "timeout" });
  }
}

/** Thrown by a handler: the other side asked to wait. */
export class Throttled extends HandlerError {
  readonly retry_after_s: number | undefined;

  constructor(retry_after_s?: number, message = "asked to come back later", details?: HandlerErrorDetails) {
    super("throttled", message, details);
    this.retry_after_s = retry_after_s;
  }
}

/** Thrown by a handler: trying again would not help. */
export class Permanent extends HandlerError {
  constructor(message: string, details?: HandlerErrorDetails) {
    super("permanent", message, details);
  }
}

export function isFanfoldError(error: unknown): error is FanfoldError {
  return readProperty(error, brand) === true;
}

const by_sqlstate: ReadonlyMap<
  string,
  new (
    message: string,
    details?: ErrorDetails & { retry_after_s?: number },
  ) => FanfoldError
> = new Map([
  ["FF001", NotFound],
  ["FF002", BadRequest],
  ["FF003", Conflict],
  ["FF004", TooLarge],
  ["FF005", Forbidden],
  ["FF006", NotAllowedNow],
  ["FF007", StaleWorker],
  ["FF008", OverLimit],
  ["FF009", BeyondLimit],
  ["FF010", Moving],
]);

type HintWords = (advice: string, action: Action) => string;

/** The error of ours that a database error with a SQLSTATE of class FF means; null for any other error. */
export function fromSqlError(error: unknown, hintOf: HintWords = (advice) => advice): FanfoldError | null {
  const code = readProperty(error, "code");
  const found = typeof code === "string" ? by_sqlstate.get(code) : undefined;
  if (found === undefined) return null;
  const detail = detailOf(error);
  const problems = problemsFrom(detail);
  const message = readProperty(error, "message");
  const hint = readProperty(error, "hint");
  const advice = typeof hint === "string" ? hint : undefined;
  const action = typeof readProperty(detail, "verb") === "string" ? (detail as Action) : null;
  const wait = readProperty(Array.isArray(detail) ? detail[0] : undefined, "retry_after_s");
  const text = typeof message === "string" ? message : found.name;
  return new found(text, {
    problems,
    hint: advice !== undefined && action !== null ? hintOf(advice, action) : advice,
    advice,
    action,
    cause: error,
    ...(typeof wait === "number" ? { retry_after_s: wait } : {}),
  });
}

/**
 * The DETAIL of our SQL errors is JSON: the problems of a request, [{path, problem, fix}], the first with `retry_after_s` where it
 * is known when to come back; or the action that the hint leads to.
 */
function detailOf(error: unknown): unknown {
  const detail = readProperty(error, "detail");
  try {
    return typeof detail === "string" ? JSON.parse(detail) : null;
  } catch {
    return null;
  }
}

function problemsFrom(detail: unknown): Problem[] {
  if (!Array.isArray(detail)) return [];
  return detail.map((entry) => ({
    path: String(readProperty(entry, "path") ?? ""),
    problem: String(readProperty(entry, "problem") ?? ""),
    fix: String(readProperty(entry, "fix") ?? ""),
  }));
}

/** The failure an error means: by its class, its HTTP status or its SQLSTATE, never by its message. Never throws. */
export function classify(error: unknown): Failure {
  let cause = error;
  // An error means what it wraps, unless it says more itself; five levels end any circle.
  for (let level = 0; level < 5 && cause !== undefined && cause !== null; level++) {
    const own = isFanfoldError(cause) ? cause : fromSqlError(cause);
    const verdict = own === null ? readForeignError(cause) : ownVerdict(own);
    if (verdict !== null) return failureOf(error, verdict);
    cause = readProperty(cause, "cause");
  }
  const { mistakes, otherwise } = category_rules;
  const { category, code } = isMistake(error) ? mistakes : otherwise;
  return failureOf(error, { category, code });
}

function ownVerdict(error: FanfoldError): FailureClass {
  const { category, code, problems } = error;
  const wait = (error as { retry_after_s?: unknown }).retry_after_s;
  return {
    category,
    code,
    ...(typeof wait === "number" ? { retry_after_s: wait } : {}),
    ...(problems.length > 0 ? { problems } : {}),
  };
}
