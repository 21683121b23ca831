// What a form says, as a command line: the verb's words, and an option for every field that they do not name. Pure.
import { type VerbName, verb_words } from "../../../src/core/shown/verb_words.js";
import { curlLine, plainText, shellWord, verbLine } from "../api/commands.js";
import { isRecord, type Value, wordOf, writeValue } from "./values.js";

/** Options that are not called as their field is: they leave out its unit, or name one of what it lists. */
const option_names: Readonly<Record<string, string>> = {
  deadline_s: "deadline",
  events: "event",
  expires_at: "expires",
  group_id: "group",
  labels: "label",
  overlap_s: "overlap",
  run_at: "at",
  scopes: "scope",
  statuses: "status",
  timeout_s: "timeout",
  webhooks: "webhook",
};

/** A field of the words that the form does not say yet stands there in capitals. */
export function formLine(verb: VerbName, given: Readonly<Record<string, Value>>): string {
  const cli = verb_words[verb].cli ?? "";
  const in_words = Array.from(cli.matchAll(/\{(\w+)\}/g), ([, field]) => field as string);
  const once: Record<string, string | boolean> = {};
  const repeated: string[] = [];
  for (const field of in_words) once[field] = wordOf(given[field]) || field.toUpperCase();
  for (const [field, value] of Object.entries(given)) {
    if (in_words.includes(field)) continue;
    const option = option_names[field] ?? field;
    const several = severalOf(field, value);
    if (several !== null) {
      const name = option.replaceAll("_", "-");
      repeated.push(...several.map((one) => `--${name} ${shellWord(one)}`));
    } else if (value === null && field === "deadline_s") once.no_deadline = true;
    else if (typeof value === "boolean") once[option] = value;
    else once[option] = textOf(field, value);
  }
  return [verbLine(cli, once), ...repeated].join(" ");
}

function severalOf(field: string, value: Value): string[] | null {
  if (Array.isArray(value)) return value.map((one) => endpointOf(one) ?? plainText(wordOf(one) ?? ""));
  if (field !== "labels" || !isRecord(value)) return null;
  return Object.entries(value).map(([name, one]) => `${name}=${wordOf(one)}`);
}

/** A receiver of webhooks that hears of everything is its id alone. */
function endpointOf(one: Value): string | null {
  return isRecord(one) && typeof one.endpoint === "string" && one.events === undefined ? one.endpoint : null;
}

function textOf(field: string, value: Value): string {
  if (!isRecord(value)) return wordOf(value) ?? "";
  const said = Object.entries(value).map(([name, one]) => [name, wordOf(one)]);
  // As the command line has it: attempts=5,within_s=900.
  if (field === "retry") return said.flatMap(([name, one]) => (one === undefined ? [] : `${name}=${one}`)).join(",");
  // A parameter that is null is said: the job is another one without it.
  return said.length === 0 ? "" : plainText(writeValue(value));
}

/** The body of a submit. Options that are not given are not sent. */
export function submitText(parameters: Value, options: Value, dry_run: boolean): string {
  const given = isRecord(options) ? Object.entries(options).filter(([, value]) => value !== undefined) : [];
  return writeValue(
    Object.fromEntries([["parameters", parameters ?? {}], ...given, ...(dry_run ? [["dry_run", true]] : [])]),
  );
}

export function submitLines(
  base: string,
  job_type: string,
  parameters: Value,
  options: Value,
): { cli: string; curl: string } {
  const text = submitText(parameters, options, false);
  const curl = curlLine(base, { method: "POST", path: "/api/jobs/submit/{job_type}", params: { job_type }, text });
  return { cli: formLine("jobs.submit", { job_type, parameters, ...(isRecord(options) ? options : {}) }), curl };
}
