// The filter of the jobs list as people type it: `type:process_raster status:failed error:"timed out" created:>-1d label:team=hydro
// free words`, read into terms and written back. Dashboard, server and command line share it, so it imports nothing large. Pure.

import { name_pattern } from "../declare/names.js";
import { shorten, suggestion } from "../errors/problems.js";
import { type Piece, readTerms, type Term } from "./job_filter_text.js";
import { readSpan, type Span } from "./job_filter_time.js";
import { type JobStatus, job_statuses } from "./statuses.js";

/** What a job is besides its status. */
export const job_conditions = ["paused", "waiting", "approval", "retrying"] as const;
export type JobCondition = (typeof job_conditions)[number];

export interface JobTerms {
  /** Each begins the id, or stands in type, labels, correlation id, group or error. */
  words: string[];
  types: string[];
  statuses: JobStatus[];
  /** All of them; null: whatever its value. */
  labels: { key: string; value: string | null }[];
  conditions: JobCondition[];
  id: string | null;
  error: string | null;
  group: string | null;
  correlation: string | null;
  created: Span;
  finished: Span;
  priority: { from: number | null; to: number | null };
}

/** From and to are places in the text, for a line under it. */
export interface FilterProblem {
  from: number;
  to: number;
  problem: string;
  fix: string;
}

export const filter_keys = {
  type: "job type, several with commas",
  status: "where it stands, several with commas",
  error: "text in its error",
  created: "when it was submitted: >-1d, <2026-01-31, 2026-01-01..2026-01-31",
  finished: "when it ended: >-1h, <2026-01-31",
  label: "label: key=value, or key alone",
  group: "group it belongs to",
  correlation: "correlation id",
  id: "beginning of its id",
  priority: "5, >=5 or 1..9",
  is: job_conditions.join(", "),
} as const;
export type FilterKey = keyof typeof filter_keys;

export const filter_limits = { text: 2000, words: 10, types: 20, labels: 20, value: 200 } as const;

/** What people of other systems type, and what it is here. */
const other_keys: Record<string, FilterKey> = {
  state: "status",
  tag: "label",
  tags: "label",
  labels: "label",
  kind: "type",
  workflow: "type",
  job: "id",
  job_id: "id",
  job_type: "type",
  group_id: "group",
  correlation_id: "correlation",
  message: "error",
  ended: "finished",
  submitted: "created",
  since: "created",
};
const other_words: Record<string, string> = {
  running: "processing",
  active: "processing",
  executing: "processing",
  pending: "queued",
  available: "queued",
  done: "completed",
  success: "completed",
  succeeded: "completed",
  partial: "partial_success",
  error: "failed",
  errored: "failed",
  discarded: "failed",
  canceled: "cancelled",
  aborted: "cancelled",
  held: "paused",
  gated: "approval",
  blocked: "waiting",
};

/** Whatever is typed: `constructor` is no word of ours. */
function own<Found>(words: Record<string, Found>, word: string): Found | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

export function noTerms(): JobTerms {
  const any = () => ({ from: null, to: null });
  const none = { words: [], types: [], statuses: [], labels: [], conditions: [] };
  return {
    ...structuredClone(none),
    id: null,
    error: null,
    group: null,
    correlation: null,
    created: any(),
    finished: any(),
    priority: any(),
  };
}

export function parseJobFilter(text: string): { terms: JobTerms; problems: FilterProblem[] } {
  if (text.length > filter_limits.text) {
    const problem = `is longer than ${filter_limits.text.toLocaleString("en")} characters`;
    return { terms: noTerms(), problems: [{ from: 0, to: text.length, problem, fix: "Leave some of it out." }] };
  }
  const { terms: read, problems } = readTerms(text);
  const reader = new Reader(problems);
  for (const term of read) reader.take(term);
  problems.sort((a, b) => a.from - b.from || a.to - b.to);
  return { terms: reader.terms, problems };
}

class Reader {
  readonly terms = noTerms();
  constructor(private readonly problems: FilterProblem[]) {}

  take(term: Term) {
    if (unsearchable.test(term.pieces.map(({ text }) => text).join("")))
      return this.#say(term, "holds a character that no job can have", "Take it out.");
    if (term.key === null) return this.#word(term);
    const known = Object.hasOwn(filter_keys, term.key);
    if (!known) {
      const close = own(other_keys, term.key);
      const fix = close === undefined ? suggestion(term.key, Object.keys(filter_keys)) : `Did you mean "${close}:"?`;
      return this.#say(term, `"${shorten(term.key)}:" is not known`, `${fix} To look for the text, put it in quotes.`);
    }
    const value = term.pieces.map(({ text }) => text).join("");
    if (value === "")
      return this.#say(term, `"${term.key}:" has no value`, `Such as ${example[term.key as FilterKey]}`);
    this.#keyed(term.key as FilterKey, term, value);
  }

  #keyed(key: FilterKey, term: Term, value: string) {
    const { terms } = this;
    if (key === "type") return this.#several(term, terms.types, filter_limits.types);
    if (key === "status") return this.#chosen(term, terms.statuses, job_statuses, "status");
    if (key === "is") return this.#chosen(term, terms.conditions, job_conditions, "condition");
    if (key === "label") return this.#labels(term);
    if (key === "created" || key === "finished") {
      const problem = readSpan(value, terms[key]);
      return problem === null ? undefined : this.#say(term, `${key}: ${problem.problem}`, problem.fix);
    }
    if (key === "priority") return this.#priority(term, value);
    if (key === "id") {
      if (!/^[0-9a-f]{4,64}$/.test(value))
        return this.#say(term, `"${shorten(value)}" begins no id`, "At least 4 characters of 0-9 and a-f.");
    } else if (value.length > filter_limits.value)
      return this.#say(term, `${key}: is longer than ${filter_limits.value} characters`, "A part of it will do.");
    if (key === "error" && value.length < 2)
      return this.#say(term, "error: is one character", "At least 2 characters of the text.");
    if (terms[key] !== null && terms[key] !== value)
      return this.#say(term, `${key}: is given twice`, "Keep one of them.");
    terms[key] = value;
  }

  #word(term: Term) {
    const value = term.pieces.map(({ text }) => text).join("");
    if (value === "") return this.#say(term, "an empty word", "Take it out.");
    if (value.length > filter_limits.value)
      return this.#say(term, `a word of more than ${filter_limits.value} characters`, "A part of it will do.");
    if (this.terms.words.includes(value)) return;
    if (this.terms.words.length === filter_limits.words)
      return this.#say(term, `more than ${filter_limits.words} words`, "Leave some out.");
    this.terms.words.push(value);
  }

  #several(term: Term, into: string[], most: number) {
    for (const { text, from, to } of parts(term)) {
      if (!name_pattern.test(text))
        this.#say({ from, to }, `"${shorten(text)}" is no job type`, "Small letters, digits and _.");
      else if (!into.includes(text) && into.length >= most)
        return this.#say({ from, to }, `more than ${most} types`, "Leave some out.");
      else if (!into.includes(text)) into.push(text);
    }
  }

  #chosen<Word extends string>(term: Term, into: Word[], words: readonly Word[], what: string) {
    for (const { text, from, to } of parts(term)) {
      const found = words.find((word) => word === text.toLowerCase());
      if (found === undefined) {
        const meant = own(other_words, text.toLowerCase());
        const close = words.find((word) => word === meant);
        const fix = close === undefined ? suggestion(text, words) : `Did you mean "${close}"?`;
        this.#say({ from, to }, `"${shorten(text)}" is no ${what} of a job`, fix);
      } else if (!into.includes(found)) into.push(found);
    }
  }

  #labels(term: Term) {
    for (const part of parts(term)) {
      const at = part.equals ?? part.text.indexOf("=");
      const key = at < 0 ? part.text : part.text.slice(0, at);
      const value = at < 0 || part.any ? null : part.text.slice(at + 1);
      const same = this.terms.labels.find((one) => one.key === key);
      if (key === "" || key.length > 100) this.#say(part, "a label without a key", "label:key=value");
      else if (value !== null && value.length > 1000) this.#say(part, "a label of more than 1,000 characters", "");
      else if (same !== undefined && same.value !== value)
        this.#say(part, `label ${shorten(key)} is given twice`, "A job has one value for a label: keep one of them.");
      else if (same === undefined && this.terms.labels.length === filter_limits.labels)
        return this.#say(part, `more than ${filter_limits.labels} labels`, "Leave some out.");
      else if (same === undefined) this.terms.labels.push({ key, value });
    }
  }

  #priority(term: Term, text: string) {
    const found = /^(>=?|<=?)?(-?\d{1,5})$|^(-?\d{1,5})\.\.(-?\d{1,5})$/.exec(text);
    if (found === null) return this.#say(term, `"${shorten(text)}" is no priority`, "5, >=5, <0 or 1..9");
    const [, operator, one, from, to] = found;
    const n = Number(one ?? from);
    const bound =
      one === undefined
        ? { from: n, to: Number(to) }
        : operator === undefined
          ? { from: n, to: n }
          : operator.startsWith(">")
            ? { from: operator === ">" ? n + 1 : n, to: null }
            : { from: null, to: operator === "<" ? n - 1 : n };
    const { priority } = this.terms;
    if ((bound.from !== null && priority.from !== null) || (bound.to !== null && priority.to !== null))
      return this.#say(term, "priority: is given twice", "Keep one of them.");
    this.terms.priority = { from: bound.from ?? priority.from, to: bound.to ?? priority.to };
  }

  #say({ from, to }: { from: number; to: number }, problem: string, fix: string): void {
    if (this.problems.length < 20) this.problems.push({ from, to, problem, fix });
  }
}

/** No text of a job holds these: Postgres stores neither. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is looked for
const unsearchable = /\u0000|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const example: Record<FilterKey, string> = {
  type: "type:process_raster",
  status: "status:failed,partial_success",
  error: 'error:"timed out"',
  created: "created:>-1d",
  finished: "finished:<2026-01-31",
  label: "label:team=hydro",
  group: "group:night-7",
  correlation: "correlation:order-12",
  id: "id:ab12",
  priority: "priority:>=5",
  is: "is:retrying",
};

interface Part {
  text: string;
  from: number;
  to: number;
  /** Where the first = outside of quotes stands. */
  equals: number | null;
  /** Its value is a * outside of quotes. */
  any: boolean;
}

/** The values between commas that stand outside of quotes. */
function parts({ pieces }: Term): Part[] {
  const found: Part[] = [];
  let part: Part | null = null;
  const open = (at: number): Part => ({ text: "", from: at, to: at, equals: null, any: false });
  for (const { text, quoted, from, to } of pieces as readonly Piece[]) {
    part ??= open(from);
    if (quoted) {
      part.text += text;
      part.any = false;
      part.to = to;
      continue;
    }
    for (const [place, run] of text.split(",").entries()) {
      if (place > 0) {
        found.push(part);
        part = open(part.to + 1);
      }
      const equals = run.indexOf("=");
      if (part.equals === null && equals >= 0) part.equals = part.text.length + equals;
      part.text += run;
      part.any = part.equals !== null && part.text.slice(part.equals + 1) === "*" && run.endsWith("*");
      part.to += run.length;
    }
  }
  if (part !== null) found.push(part);
  return found;
}
