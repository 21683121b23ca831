// The parameters of a lone task at enqueue: checked against the handler's schema when this process has it, and stored as
// they were given; the worker applies defaults when it runs the task. Pure.

import { ContractViolation, ParameterError, TooLarge, ValueProblems } from "../errors/errors.js";
import { kindOf } from "../errors/problems.js";
import { canonicalJson } from "../values/canonical.js";
import { type JsonLimits, json_limits } from "../values/json_values.js";
import type { Handler } from "./declare.js";
import { max_parameter_bytes, taskParameters } from "./parameters.js";
import { isRecord } from "./report.js";

const input_limits: JsonLimits = { ...json_limits, skip_undefined: true };

/** Canonical JSON of the parameters. Throws ParameterError with all problems, or TooLarge. */
export function validateTaskInput(
  task_type: string,
  handler: Handler | null,
  input: unknown,
): string | Promise<string> {
  const given = input === undefined ? {} : input;
  if (!isRecord(given)) {
    const problem = `must be an object, not ${kindOf(given)}`;
    throw new ParameterError(task_type, [{ path: "$", problem, fix: 'Send e.g. { "name": "value" }.' }]);
  }
  try {
    const canonical = canonicalJson(given, input_limits);
    const bytes = Buffer.byteLength(canonical, "utf8");
    if (bytes > max_parameter_bytes) {
      const problem = `${bytes} bytes of parameters; the limit is ${max_parameter_bytes}`;
      const hint = "Put the data into storage and pass a reference.";
      throw new TooLarge(`The parameters of ${task_type} are too large`, {
        hint,
        problems: [{ path: "$", problem, fix: hint }],
      });
    }
    const checked = handler === null ? undefined : taskParameters(handler, given);
    return checked instanceof Promise ? checked.then(() => canonical, refused(task_type)) : canonical;
  } catch (error) {
    return refused(task_type)(error);
  }
}

function refused(task_type: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ContractViolation || error instanceof ValueProblems)
      throw new ParameterError(task_type, error.problems);
    throw error;
  };
}
