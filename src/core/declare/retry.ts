// How often and for how long failed tasks are tried again, as a stage, a handler, a submit or a lone task may say it. What they
// mean, and what holds where nobody says anything, is decided in SQL (db/functions/finish/retry_*.sql). Pure.
import { type Problem, quoted } from "../errors/problems.js";
import { isRecord, Report } from "./report.js";

export interface Retry {
  /** At most so many attempts. Without a time this number alone decides. */
  attempts?: number;
  /** The first wait in seconds; each is twice the one before. Default: 1. */
  base_s?: number;
  /** The longest wait. Default: 60. */
  cap_s?: number;
  /** For so many seconds from the first failure on, waits and further attempts together. Default: by what failed. */
  within_s?: number;
}

export const retry_limits = {
  attempts: { least: 1, most: 10_000 },
  base_s: { least: 0.01, most: 3600 },
  cap_s: { least: 0.01, most: 3600 },
  within_s: { least: 0, most: 604_800 },
} as const satisfies Record<keyof Retry, { least: number; most: number }>;

export const retry_keys = Object.keys(retry_limits) as (keyof Retry)[];

export const retry_fix = "Write { attempts, base_s, cap_s, within_s }, any of them, or leave it out.";

/** The settings as they are kept, or null when nothing is said; what is wrong with them goes to the report. */
export function readRetry(given: unknown, report: Report): Retry | null {
  if (given === undefined || given === null) return null;
  if (!isRecord(given)) {
    report.record("retry", given, retry_fix);
    return null;
  }
  report.at("retry").unknownKeys(given, retry_keys);
  const read: Retry = {};
  for (const key of retry_keys) {
    const value = given[key];
    if (value === undefined || value === null) continue;
    const { least, most } = retry_limits[key];
    if (
      typeof value === "number" &&
      value >= least &&
      value <= most &&
      (key !== "attempts" || Number.isInteger(value))
    ) {
      read[key] = value;
      continue;
    }
    const what = key === "attempts" ? "a whole number" : "a number";
    report.add(`retry ${key}`, `must be ${what} from ${least} to ${most}, not ${quoted(value)}`, retry_fix);
  }
  return Object.keys(read).length === 0 ? null : read;
}

/** `max_attempts` is the old word for `retry.attempts`. */
export function readRetryOf(given: Record<string, unknown>, report: Report): Retry | null {
  const retry = readRetry(given.retry, report);
  const attempts = report.wholeNumber(
    "max_attempts",
    given.max_attempts,
    retry_limits.attempts.least,
    retry_limits.attempts.most,
  );
  if (attempts === null) return retry;
  if (retry?.attempts !== undefined && retry.attempts !== attempts) {
    report.add("retry attempts", `is ${retry.attempts}, and max_attempts ${attempts}`, "Give one of them.");
  }
  return { ...retry, attempts };
}

/** As a command line or an environment has it: "attempts=5,within_s=900". */
export function retryFromText(text: string): { retry: Retry } | { problems: Problem[] } {
  const problems: Problem[] = [];
  const given: Record<string, unknown> = {};
  for (const part of text.split(",")) {
    const [key = "", value = ""] = part.split("=", 2).map((word) => word.trim());
    if (!(retry_keys as string[]).includes(key) || value === "" || Number.isNaN(Number(value))) {
      problems.push({
        path: "",
        problem: `${quoted(part)} is not a setting of retries`,
        fix: 'e.g. "attempts=5,within_s=900"',
      });
    } else given[key] = Number(value);
  }
  if (problems.length > 0) return { problems };
  const report = new Report(problems, "");
  const retry = readRetry(given, report) ?? {};
  return problems.length > 0 ? { problems } : { retry };
}
