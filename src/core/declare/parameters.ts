// Parameters at submit: validated, defaulted, canonicalised, measured, or refused with every problem at once. And a task's
// parameters before its handler sees them. Pure.
import { z } from "zod";
import { ContractViolation, ParameterError, TooLarge, ValueProblems } from "../errors/errors.js";
import { zodProblems } from "../errors/foreign_errors.js";
import { kindOf, max_problems, type Problem } from "../errors/problems.js";
import { resultToOutcome } from "../task/outcomes.js";
import { canonicalJson, writeCanonical } from "../values/canonical.js";
import { examineJson, type JsonLimits, json_limits } from "../values/json_values.js";
import type { Handler, Job } from "./declare.js";
import { unknownKeys } from "./parameter_schema.js";
import { isRecord } from "./report.js";
import { type CheckBudget, max_check_steps, spendOn } from "./schema_work.js";

/** The most bytes of canonical JSON in UTF-8. SQL holds task parameters to the same. */
export const max_parameter_bytes = 262_144;

export interface ValidParameters {
  parameters: Record<string, unknown>;
  canonical: string;
  /** Canonical JSON of the parameters that form the identity: goes into the job's id. */
  identity_canonical: string;
}

/** An optional parameter given as undefined is one that was not given. */
const input_limits: JsonLimits = { ...json_limits, skip_undefined: true };

/** Throws ParameterError with all problems, or TooLarge. Asynchronous because a schema's checks may be. */
export async function validateParameters(
  job: Job,
  input: unknown,
  budget: CheckBudget = { steps: max_check_steps },
): Promise<ValidParameters> {
  const given = input === undefined ? {} : input;
  if (!isRecord(given)) {
    const problem = `must be an object, not ${kindOf(given)}`;
    throw new ParameterError(job.type, [{ path: "$", problem, fix: 'Send e.g. { "name": "value" }.' }]);
  }
  const { problems, endless } = examineJson(given, input_limits);
  const most = Math.min(max_check_steps, Math.floor(budget.steps));
  if (job.is_sent === true && !endless && !spendOn(job.blueprint.parameters, given, budget)) {
    const problem = `takes more than ${most} steps to check by the job type's JSON Schema; what is wrong counts tenfold`;
    const fix = "Send fewer items, or let the job type's schema have fewer alternatives and fields for each.";
    throw new ParameterError(job.type, [{ path: "$", problem, fix }]);
  }
  const checked =
    endless || job.schema === undefined ? { output: given, problems: [] } : await parsed(job.schema, given);
  const told = new Set(problems.map(({ path }) => path));
  problems.push(...checked.problems.filter(({ path }) => !told.has(path)));
  if (problems.length > 0) throw new ParameterError(job.type, problems.slice(0, max_problems));
  const { output } = checked;
  return measured(job, output === given ? writeCanonical(given) : canonicalOutput(job.type, output));
}

async function parsed(schema: z.ZodObject, given: unknown): Promise<{ output: unknown; problems: Problem[] }> {
  const problems = unknownKeys(schema, given);
  try {
    const outcome = await parseEither(schema, given);
    if (!outcome.success) {
      // Unknown keys were told above, with what was perhaps meant.
      const others = outcome.error.issues.filter((issue) => issue.code !== "unrecognized_keys");
      problems.push(...issueProblems(others, given));
    }
    return { output: outcome.data, problems };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = "Repair the check or transform in the job's declaration.";
    problems.push({ path: "$", problem: `the schema itself failed: ${why}`, fix });
    return { output: undefined, problems };
  }
}

/** Synchronous where the schema allows it: a bulk submit pays for promises only if a check asks for them. */
function parseEither(
  schema: z.ZodType,
  value: unknown,
): z.ZodSafeParseResult<unknown> | Promise<z.ZodSafeParseResult<unknown>> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) return schema.safeParseAsync(value);
    throw error;
  }
}

/** In our words, with what to do; the words of a schema's own checks stay as they were written. */
export function issueProblems(told: readonly z.core.$ZodIssue[], given: unknown): Problem[] {
  return zodProblems(told.slice(0, max_problems)).map((problem, position) => {
    const issue = told[position]!;
    if (issue.code === "invalid_type" && valueAt(given, issue.path) === undefined) {
      return { ...problem, problem: "is missing", fix: `Give ${typeWord(issue.expected)}.` };
    }
    // What its schema says of it is better than a list of what each alternative says.
    if (issue.code === "invalid_union" && issue.errors.length > 0 && issue.message === "Invalid input") {
      const value = valueAt(given, issue.path);
      const alternatives = issue.errors.slice(0, 5).map(([first]) => {
        if (first === undefined) return "another value";
        return inOurWords(first, valueAt(value, first.path)).problem ?? first.message;
      });
      return { ...problem, problem: "fits none of the alternatives", fix: alternatives.join(" · ") };
    }
    return { ...problem, ...inOurWords(issue, valueAt(given, issue.path)) };
  });
}

const type_words: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function typeWord(expected: string): string {
  return type_words[expected] ?? `a value of type ${expected}`;
}

function gotWord(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" && Number.isNaN(value)) return "something else";
  return (
    { string: "text", number: "a number", boolean: "true or false", object: "an object" }[typeof value as string] ??
    kindOf(value)
  );
}

/** Only where the words are zod's own: a message that the schema gives says more than we could. */
function inOurWords(issue: z.core.$ZodIssue, value: unknown): Partial<Problem> {
  if (issue.code === "invalid_type" && issue.message.startsWith("Invalid input")) {
    const wanted = typeWord(issue.expected);
    const is_number_in_quotes =
      typeof value === "string" &&
      /^(number|int)$/.test(issue.expected) &&
      value.trim() !== "" &&
      Number.isFinite(Number(value));
    const fix = is_number_in_quotes ? `Leave the quotes out: ${Number(value)}.` : `Give ${wanted}.`;
    return {
      problem: `expected ${wanted}, got ${issue.expected === "int" && typeof value === "number" ? value : gotWord(value)}`,
      fix,
    };
  }
  if (issue.code === "too_small" && issue.message.startsWith("Too small"))
    return bounds(issue.origin, "at least", issue.minimum, issue.inclusive !== false);
  if (issue.code === "too_big" && issue.message.startsWith("Too big"))
    return bounds(issue.origin, "at most", issue.maximum, issue.inclusive !== false);
  if (issue.code === "invalid_format" && issue.format === "regex" && issue.message.startsWith("Invalid string")) {
    return {
      problem: "is not written as it must be",
      fix: `Write it as ${issue.pattern ?? "the page of the API tells"}.`,
    };
  }
  if (issue.code === "invalid_format" && issue.format === "datetime") {
    return { problem: "is not a time", fix: "Write it as 2030-01-31T12:00:00Z." };
  }
  return {};
}

function bounds(
  origin: string,
  side: "at least" | "at most",
  bound: number | bigint,
  inclusive: boolean,
): Partial<Problem> {
  const measured = {
    string: ["has", "characters"],
    array: ["has", "entries"],
    set: ["has", "entries"],
    object: ["has", "keys"],
  }[origin];
  const side_word = inclusive ? side : side === "at least" ? "more than" : "less than";
  const limit = `${side_word} ${bound}`;
  if (measured === undefined) {
    return { problem: `must be ${limit}`, fix: `Give a number of ${limit}.` };
  }
  const unit = Number(bound) === 1 ? measured[1]!.replace(/ies$/, "y").replace(/s$/, "") : measured[1];
  return {
    problem: `must have ${limit} ${unit}`,
    fix: side === "at least" ? `Give ${limit} ${unit}.` : `Keep it to ${limit} ${unit}.`,
  };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[step];
  }
  return found;
}

function canonicalOutput(type: string, output: unknown): string {
  try {
    return canonicalJson(output, input_limits);
  } catch (error) {
    if (!(error instanceof ValueProblems)) throw error;
    const problems = error.problems.map((found) => ({
      ...found,
      problem: `after the schema's transforms, ${found.problem}`,
      fix: "Let the transform return JSON.",
    }));
    throw new ParameterError(type, problems);
  }
}

function measured(job: Job, canonical: string): ValidParameters {
  const bytes = Buffer.byteLength(canonical, "utf8");
  if (bytes > max_parameter_bytes) {
    const problem = `${bytes} bytes of parameters; the limit is ${max_parameter_bytes}`;
    const hint = "Put the data into storage and pass a reference.";
    throw new TooLarge(`The parameters of ${job.type} are too large`, {
      hint,
      problems: [{ path: "$", problem, fix: hint }],
    });
  }
  const parameters = JSON.parse(canonical) as Record<string, unknown>;
  const { identity } = job.blueprint;
  if (identity === null) return { parameters, canonical, identity_canonical: canonical };
  const chosen = identity.filter((name) => Object.hasOwn(parameters, name)).map((name) => [name, parameters[name]]);
  return { parameters, canonical, identity_canonical: canonicalJson(Object.fromEntries(chosen)) };
}

/**
 * What the handler gets: its schema's output, or the parameters as they are. A promise only if the schema is asynchronous.
 * Throws ContractViolation: the plan and the handler disagree, and trying again would not change that.
 */
export function taskParameters(handler: Handler, parameters: unknown): unknown {
  const schema = handler.options.parameters;
  if (schema === undefined) return parameters;
  const outcome = parseEither(schema, parameters);
  if (!(outcome instanceof Promise)) return accepted(handler, outcome, parameters);
  return outcome.then((settled) => accepted(handler, settled, parameters));
}

/** What the handler returned, checked by its schema; a failure it returned, and what is none of ours, pass as they are. */
export function taskResult(schema: z.ZodType, handler: Handler, returned: unknown): unknown {
  const outcome = resultToOutcome(returned);
  if (!outcome.success) return returned;
  const { result = null, next_stage_params } = outcome;
  const keep = (parsed: z.ZodSafeParseResult<unknown>) => {
    if (parsed.success) return { success: true, result: parsed.data, next_stage_params };
    const problems = issueProblems(parsed.error.issues, result).slice(0, max_problems);
    throw new ContractViolation(`The result of handler ${handler.name} is not what it declares`, {
      problems,
    });
  };
  const parsed = parseEither(schema, result);
  return parsed instanceof Promise ? parsed.then(keep) : keep(parsed);
}

function accepted(handler: Handler, outcome: z.ZodSafeParseResult<unknown>, parameters: unknown): unknown {
  if (outcome.success) return outcome.data;
  const problems = issueProblems(outcome.error.issues, parameters).slice(0, max_problems);
  throw new ContractViolation(`The task's parameters do not fit handler ${handler.name}`, {
    problems,
  });
}
