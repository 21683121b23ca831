// What could follow at the caret of the filter: keys, and values of the key that is being written. Pure.
import { type FilterKey, filter_keys, job_conditions } from "../../../../src/core/shown/job_filter.js";
import { formatWord } from "../../../../src/core/shown/job_filter_text.js";
import { job_statuses } from "../../../../src/core/shown/statuses.js";

export interface Known {
  types: readonly string[];
  labels: readonly { key: string; values: readonly string[] }[];
}

export interface Completion {
  /** The part of the text that an option takes the place of. */
  from: number;
  to: number;
  options: { text: string; about: string }[];
}

const MOST = 8;
const times = [
  [">-1h", "the last hour"],
  [">-1d", "the last day"],
  [">-7d", "the last week"],
  ["<-1d", "more than a day ago"],
] as const;

export function complete(text: string, caret: number, known: Known): Completion | null {
  const before = text.slice(0, caret);
  const from = startOfTerm(before);
  if (from === null) return null;
  const term = before.slice(from);
  const found = /^([a-z_]+):(.*)$/s.exec(term);
  if (found === null) {
    const options = Object.entries(filter_keys)
      .filter(([key]) => key.startsWith(term.toLowerCase()))
      .map(([key, about]) => ({ text: `${key}:`, about }));
    const types = term === "" ? [] : known.types.filter((type) => type.includes(term.toLowerCase()));
    const named = types.map((type) => ({ text: `type:${type} `, about: "job type" }));
    return bounded({ from, to: caret, options: [...options, ...named] });
  }
  const [, key = "", written = ""] = found;
  const list = key === "type" || key === "status" || key === "is" || key === "label";
  const value = list ? written.slice(written.lastIndexOf(",") + 1) : written;
  const place = { from: caret - value.length, to: caret };
  const taken = new Set(list ? written.split(",").slice(0, -1) : []);
  const options = valuesOf(key as FilterKey, value, known)
    .filter(({ text: one }) => !taken.has(one.trim()) && one.trim() !== value)
    .filter(
      ({ text: one }) =>
        one.toLowerCase().startsWith(value.toLowerCase()) || (value !== "" && key === "type" && one.includes(value)),
    );
  return bounded({ ...place, options });
}

function bounded({ from, to, options }: Completion): Completion | null {
  return options.length === 0 ? null : { from, to, options: options.slice(0, MOST) };
}

function valuesOf(key: FilterKey, value: string, known: Known): Completion["options"] {
  const plain = (words: readonly string[], about: string) => words.map((text) => ({ text: `${text} `, about }));
  if (key === "status") return plain(job_statuses, "status");
  if (key === "is") {
    const meanings = {
      paused: "nothing of it is started",
      waiting: "for other jobs",
      approval: "a stage waits for a person",
      retrying: "something is tried again",
    };
    return job_conditions.map((text) => ({ text: `${text} `, about: meanings[text] }));
  }
  if (key === "type") return plain(known.types, "job type");
  if (key === "created" || key === "finished") return times.map(([text, about]) => ({ text: `${text} `, about }));
  if (key !== "label") return [];
  const equals = value.indexOf("=");
  if (equals < 0)
    return known.labels.map(({ key: name, values }) => ({
      text: `${written(name)}=`,
      about: `label, ${values.length} seen`,
    }));
  const label = known.labels.find(({ key: name }) => written(name) === value.slice(0, equals));
  return (label?.values ?? []).map((one) => ({ text: `${value.slice(0, equals)}=${written(one)} `, about: "label" }));
}

const written = (text: string) => (/[,=]/.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : formatWord(text));

/** Where the term at the end begins; null within quotes, where there is nothing to offer. */
function startOfTerm(before: string): number | null {
  let start = 0;
  let quoted = false;
  for (let at = 0; at < before.length; at++) {
    if (quoted && before[at] === "\\") at++;
    else if (before[at] === '"') quoted = !quoted;
    else if (!quoted && /\s/.test(before[at]!)) start = at + 1;
  }
  return quoted ? null : start;
}
