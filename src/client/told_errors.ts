// Errors as the caller gets them: the server's problem details become the class they were thrown as, trouble on the way gets
// a class of its own. Nothing here ever holds the key.
import { type ProblemDetails, problem_schema } from "../core/api/problem.js";
import {
  BadRequest,
  BeyondLimit,
  Conflict,
  ContractViolation,
  DeclarationError,
  type ErrorDetails,
  FanfoldError,
  Forbidden,
  NotAllowedNow,
  NotFound,
  OverLimit,
  ParameterError,
  StaleWorker,
  Stopping,
  TooLarge,
  Unauthenticated,
  Unavailable,
  ValueProblems,
} from "../core/errors/errors.js";
import { shorten } from "../core/errors/problems.js";
import type { Category } from "../core/shown/statuses.js";

/** No answer came: nobody listens, the line broke, or it took too long. */
export class ConnectionError extends FanfoldError {
  override readonly code: "connection" | "timeout";

  constructor(code: "connection" | "timeout", message: string, details?: ErrorDetails) {
    super("unavailable", message, details);
    this.code = code;
  }
}

/** An answer that is none of the classes: told by its status and code. */
export class ServiceError extends FanfoldError {
  override readonly code: string;
  override readonly http_status: number;
  override readonly category: Category;

  constructor(code: string, http_status: number, message: string, details?: ErrorDetails) {
    super("unavailable", message, details);
    this.code = code;
    this.http_status = http_status;
    this.category = http_status >= 500 || http_status === 408 ? "transient" : "permanent";
  }
}

type Details = ErrorDetails & { retry_after_s?: number };

const by_code: Readonly<Record<string, new (message: string, details?: Details) => FanfoldError>> = {
  not_found: NotFound,
  bad_request: BadRequest,
  conflict: Conflict,
  too_large: TooLarge,
  forbidden: Forbidden,
  not_allowed_now: NotAllowedNow,
  stale_worker: StaleWorker,
  over_limit: OverLimit,
  throttled: OverLimit,
  beyond_limit: BeyondLimit,
  unauthenticated: Unauthenticated,
  unavailable: Unavailable,
  stopping: Stopping,
  contract: ContractViolation,
};

/** What the server refused, as the error it threw. `text` is whatever the body was. */
export function toldError(status: number, text: string, request_id: string | null, retry_after_s?: number) {
  const problem = readProblem(text);
  if (problem === null) {
    const detail = `the server answered ${status} in words that are not ours: ${shorten(printable(text), 200)}`;
    const hint = "a proxy may have answered instead; see that the url is the one of a Fanfold server";
    return new ServiceError("not_ours", status, detail, { hint, ...(request_id === null ? {} : { request_id }) });
  }
  const { code, detail, hint, problems = [] } = problem;
  const wait = problem.retry_after_s ?? retry_after_s;
  const details: Details = { problems, request_id: problem.request_id, hint, retry_after_s: wait };
  const known = Object.hasOwn(by_code, code) ? by_code[code] : undefined;
  if (known !== undefined) return new known(detail, details);
  if (code === "bad_parameters") return new ParameterError("the job", problems, { ...details, title: detail });
  if (code === "bad_declaration") return new DeclarationError(problems, { ...details, title: detail });
  if (code === "bad_value") return new ValueProblems(problems, detail, details);
  return new ServiceError(code, status, detail, details);
}

export function readProblem(text: string): ProblemDetails | null {
  try {
    const read = problem_schema.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a terminal
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, " ").trim();
}
