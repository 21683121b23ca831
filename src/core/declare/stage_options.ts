// What a submit may say of single stages of a job, and how far a stage lets it: the declaration's `overrides`. SQL decides
// (db/functions/submit/stage_option_problems.sql); this reads what is declared. Pure.
import { quoted } from "../errors/problems.js";
import { isRecord, type Report } from "./report.js";
import type { Retry } from "./retry.js";

export type FailureBudget = { count: number } | { percent: number };

/** What a submit may set of one stage. */
export interface StageOptions {
  failure_budget?: FailureBudget;
  max_parallel?: number;
  /** The same as retry.attempts. */
  max_attempts?: number;
  retry?: Retry;
}

/** The most that a submit may ask for; false: nothing. What is left out may not be more than the stage itself says. */
export type StageOverrides = false | { failure_budget?: FailureBudget; max_parallel?: number; max_attempts?: number };

const fix = "Write { failure_budget: { percent: 20 }, max_parallel: 64, max_attempts: 10 }, any of them, or false.";

/** undefined: nothing is declared, and nothing is kept of it. */
export function readOverrides(
  given: unknown,
  report: Report,
  readBudget: (budget: unknown, report: Report) => FailureBudget | null,
): StageOverrides | undefined {
  if (given === undefined || given === null) return undefined;
  if (given === false) return false;
  if (!isRecord(given)) {
    report.add("overrides", `must say how much a submit may ask for, not ${quoted(given)}`, fix);
    return undefined;
  }
  const own = report.at("overrides");
  own.unknownKeys(given, ["failure_budget", "max_parallel", "max_attempts"]);
  const failure_budget = readBudget(given.failure_budget, own);
  const max_parallel = own.wholeNumber("max_parallel", given.max_parallel, 1, 1_000_000);
  const max_attempts = own.wholeNumber("max_attempts", given.max_attempts, 1, 10_000);
  return {
    ...(failure_budget === null ? {} : { failure_budget }),
    ...(max_parallel === null ? {} : { max_parallel }),
    ...(max_attempts === null ? {} : { max_attempts }),
  };
}
