// Options out of text: numbers, labels, moments. Each reader adds to a list of problems instead of stopping at the first.
import { stage_options } from "../../core/api/fields.js";
import { job_webhooks } from "../../core/api/webhooks.js";
import { priority_range } from "../../core/declare/names.js";
import { type Retry, retryFromText } from "../../core/declare/retry.js";
import type { StageOptions } from "../../core/declare/stage_options.js";
import { type Problem, quoted } from "../../core/errors/problems.js";
import type { JobWebhook } from "../../core/places/webhooks.js";
import { parseJson } from "../../core/values/json.js";
import { usage } from "./failure.js";

/** Reads options; what is wrong with them is said all at once. */
export function checked<T>(refusal: string, read: (problems: Problem[]) => T): T {
  const problems: Problem[] = [];
  const options = read(problems);
  if (problems.length > 0) throw usage(refusal, { problems });
  return options;
}

export interface PageFlags {
  limit?: string;
  cursor?: string;
}

export function pageOf(
  { limit, cursor }: PageFlags,
  problems: Problem[],
  rows = 20,
): { limit: number; cursor: string | undefined } {
  return { limit: wholeNumber("--limit", limit, 1, 1000, problems) ?? rows, cursor };
}

export function wholeNumber(
  name: string,
  text: string | undefined,
  from: number,
  to: number,
  problems: Problem[],
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= from && value <= to) return value;
  const range = to >= Number.MAX_SAFE_INTEGER ? `of at least ${from}` : `from ${from} to ${to}`;
  // A port is not explained by an example that is one nobody may use.
  const example = name === "--port" ? 8080 : Math.max(from, 1);
  problems.push({
    path: name,
    problem: `${quoted(text)} is not a whole number ${range}`,
    fix: `for example ${name} ${example}`,
  });
  return undefined;
}

/** --slots 8, --slots raster.warp=2, or both with a comma between them: of all types together, and of single ones. */
export function slotsOf(
  text: string | undefined,
  problems: Problem[],
): { slots: number | undefined; type_slots: Record<string, number> } {
  let slots: number | undefined;
  const type_slots: Record<string, number> = {};
  for (const part of text?.split(",") ?? []) {
    const at = part.indexOf("=");
    if (at < 0) slots = wholeNumber("--slots", part, 1, 10_000, problems);
    else type_slots[part.slice(0, at).trim()] = wholeNumber("--slots", part.slice(at + 1), 1, 10_000, problems) ?? 1;
  }
  return { slots, type_slots };
}

export function positiveSeconds(name: string, text: string | undefined, problems: Problem[]): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value > 0 && value <= 1e9) return value;
  problems.push({ path: name, problem: `"${text}" is not a number of seconds`, fix: `${name} 60` });
  return undefined;
}

/** What --deadline says; --no-deadline gives false: null, however long the job takes. */
export function deadlineOf(flag: string | false | undefined, problems: Problem[]): number | null | undefined {
  return flag === false ? null : positiveSeconds("--deadline", flag, problems);
}

export function priorityOf(text: string | undefined, problems: Problem[]): number | undefined {
  return wholeNumber("--priority", text, priority_range.lowest, priority_range.highest, problems);
}

/** "attempts=5,within_s=900". */
export function retryOf(text: string | undefined, problems: Problem[]): Retry | undefined {
  if (text === undefined) return undefined;
  const read = retryFromText(text);
  if ("retry" in read) return read.retry;
  for (const { path, problem, fix } of read.problems)
    problems.push({ path: "--retry", problem: `${path} ${problem}`.trim(), fix });
  return undefined;
}

/** Each is stage.setting=value, e.g. tiles.failure_budget.percent=5. */
export function stageOptionsOf(texts: readonly string[] | undefined, problems: Problem[]) {
  if (texts === undefined || texts.length === 0) return undefined;
  const given: Record<string, Record<string, unknown>> = {};
  for (const text of texts) {
    const [, stage, setting, part, value] = /^([a-z0-9_]+)\.([a-z_]+)(?:\.([a-z_]+))?=(.+)$/.exec(text) ?? [];
    if (stage === undefined || setting === undefined || !Number.isFinite(Number(value))) {
      const problem = `${quoted(text)} is not stage.setting=number`;
      problems.push({
        path: "--stage-option",
        problem,
        fix: "e.g. tiles.max_parallel=8, tiles.failure_budget.percent=5",
      });
      continue;
    }
    const own = given[stage] ?? {};
    given[stage] = own;
    if (part === undefined) own[setting] = Number(value);
    else own[setting] = { ...(own[setting] as object | undefined), [part]: Number(value) };
  }
  const read = stage_options.safeParse(given);
  if (read.success) return read.data as Record<string, StageOptions>;
  for (const { path, message } of read.error.issues)
    problems.push({ path: "--stage-option", problem: `${path.join(".")}: ${message}`, fix: "fanfold submit --help" });
  return undefined;
}

export function oneOf<Word extends string>(
  name: string,
  text: string | undefined,
  words: readonly Word[],
  problems: Problem[],
): Word | undefined {
  if (text === undefined || (words as readonly string[]).includes(text)) return text as Word | undefined;
  problems.push({ path: name, problem: `${quoted(text)} is not known`, fix: `choose from ${words.join(", ")}` });
  return undefined;
}

/** Each is the id of an endpoint, or the JSON that the API takes. */
export function webhooksOf(texts: readonly string[] | undefined, problems: Problem[]): JobWebhook[] | undefined {
  if (texts === undefined || texts.length === 0) return undefined;
  const read = job_webhooks.safeParse(texts.map(webhookOf));
  if (read.success) return read.data;
  const at = read.error.issues[0]?.path[0];
  const which = typeof at === "number" ? quoted(texts[at] ?? "") : `${texts.length} of them`;
  const problem = typeof at === "number" ? `${which} is no receiver` : `${which} are too many`;
  const fix = `--webhook we_…, or --webhook '{"url":"https://…","secret":"secret://name"}'`;
  problems.push({ path: "--webhook", problem, fix });
  return undefined;
}

function webhookOf(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return { endpoint: text };
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Labels are texts, never JSON: a label "1.10" must not become 1.1. */
export function metadataOf(text: string | undefined, problems: Problem[]): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = parseJson(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  problems.push({ path: "--metadata", problem: "is not a JSON object", fix: `--metadata '{"ticket": 17}'` });
  return undefined;
}

export function labelsOf(
  pairs: readonly string[] | undefined,
  problems: Problem[],
): Record<string, string> | undefined {
  if (pairs === undefined || pairs.length === 0) return undefined;
  const labels = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(0, at));
    if (at < 1) problems.push({ path: "--label", problem: `"${pair}" is not key=value`, fix: "--label team=maps" });
    else if (key === "__proto__")
      problems.push({ path: "--label", problem: `"${key}" cannot be a name`, fix: "choose another" });
    else if (labels.has(key))
      problems.push({ path: "--label", problem: `"${key}" is given twice`, fix: "give it once" });
    else labels.set(key, pair.slice(at + 1));
  }
  return Object.fromEntries(labels);
}

/** A moment with its zone: without one, a job would run at another time on another machine. */
export function momentOf(name: string, text: string | undefined, problems: Problem[]): string | undefined {
  if (text === undefined) return undefined;
  const at = new Date(text);
  if (/(Z|[+-]\d{2}:?\d{2})$/i.test(text) && !Number.isNaN(at.getTime())) return at.toISOString();
  problems.push({
    path: name,
    problem: `"${text}" is not a moment with a time zone`,
    fix: `${name} 2030-12-31T18:00:00Z`,
  });
  return undefined;
}

/** For commander: collects a repeated option. */
export function collect(text: string, before: string[] = []): string[] {
  return [...before, text];
}
