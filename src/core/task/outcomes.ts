// What a handler's return value means: done, with a result for the store and perhaps a hand-over to the next stage, or
// failed. A result that JSON cannot hold fails here, alone, before it could spoil the batch it is finished with. Pure.
import { classify } from "../errors/errors.js";
import { type Failure, failure_code, failureOf, readProperty } from "../errors/failures.js";
import { formatProblems } from "../errors/problems.js";
import type { Category } from "../shown/statuses.js";
import { jsonProblems, result_limits } from "../values/json_values.js";

export type Outcome =
  | { success: true; result?: unknown; next_stage_params?: unknown }
  | { success: false; failure: Failure };

/**
 * `{ success: false, retry?, retry_after_s?, error? }` is a failure, as if thrown. `{ success: true, result,
 * next_stage_params }` and any object with `next_stage_params` hand that part to the next stage. All else is the result.
 */
export function resultToOutcome(value: unknown): Outcome {
  try {
    if (!isRecord(value)) return done(value, undefined);
    if (value.success === false) return { success: false, failure: returnedFailure(value) };
    const names = Object.keys(value);
    const is_envelope = value.success === true && names.length > 1 && names.every((name) => envelope.has(name));
    if (is_envelope) return done(value.result, value.next_stage_params);
    if (!Object.hasOwn(value, "next_stage_params")) return done(value, undefined);
    const { next_stage_params, ...result } = value;
    return done(result, next_stage_params);
  } catch (error) {
    // A getter or toJSON of the returned value threw.
    const { message } = classify(error);
    const failure = failureOf(error, { category: "contract", code: "bad_result" });
    return { success: false, failure: { ...failure, message: `the result could not be read: ${message}` } };
  }
}

const envelope: ReadonlySet<string> = new Set(["success", "result", "next_stage_params"]);

function done(result: unknown, next_stage_params: unknown): Outcome {
  const problems = [
    ...(result === undefined ? [] : jsonProblems(result, result_limits)),
    ...(next_stage_params === undefined ? [] : jsonProblems(next_stage_params, result_limits)),
  ];
  if (problems.length > 0) {
    const message = formatProblems("The handler returned what JSON cannot hold", problems);
    return { success: false, failure: failureOf({ message }, { category: "contract", code: "bad_result", problems }) };
  }
  return {
    success: true,
    ...(result === undefined ? {} : { result }),
    ...(next_stage_params === undefined || next_stage_params === null ? {} : { next_stage_params }),
  };
}

function returnedFailure(value: Record<string, unknown>): Failure {
  const { error, retry, retry_after_s } = value;
  const thrown = error instanceof Error ? classify(error) : null;
  const waits = typeof retry_after_s === "number";
  let category: Category = waits ? "throttled" : (thrown?.category ?? "transient");
  if (retry === false) category = thrown?.category === "contract" ? "contract" : "permanent";
  else if (retry === true && (category === "permanent" || category === "contract")) category = "transient";
  const given = readProperty(error, "code");
  const own_code = typeof given === "string" && failure_code.test(given) ? given : "returned_failure";
  const message =
    typeof error === "string" ? error : (readProperty(error, "message") ?? "the handler returned success: false");
  const source = error instanceof Error ? error : { message };
  return failureOf(source, {
    category,
    code: thrown?.code ?? own_code,
    ...(waits ? { retry_after_s } : thrown?.retry_after_s === undefined ? {} : { retry_after_s: thrown.retry_after_s }),
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
