// The value a form is about: JSON whose numbers keep the digits they were written with, and, while somebody types, text that is not
// yet what it should be. Pure.
import { isLosslessNumber, LosslessNumber, parse, stringify } from "lossless-json";
import type { Step } from "../../../src/core/errors/problems.js";

export type Value =
  | undefined
  | null
  | boolean
  | string
  | LosslessNumber
  | Unfinished
  | Value[]
  | { [name: string]: Value };
export type Path = readonly Step[];

/** What was typed where a number, or JSON, is wanted, and is none. */
export class Unfinished {
  constructor(readonly text: string) {}
}

export { isLosslessNumber, LosslessNumber };

export function isRecord(value: unknown): value is { [name: string]: Value } {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !isLosslessNumber(value) &&
    !(value instanceof Unfinished)
  );
}

/** Throws a SyntaxError with the place. */
export function readValue(text: string): Value {
  return parse(text) as Value;
}

const number_text = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** What is typed into a field for a number. Thousands are not guessed at: 1,000 is no number. */
export function readNumber(text: string): Value {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  // People write .5, 5. and +3; JSON does not.
  const usual = trimmed
    .replace(/^\+/, "")
    .replace(/^(-?)\./, "$10.")
    .replace(/\.(?=$|[eE])/, "");
  return number_text.test(usual) ? new LosslessNumber(usual) : new Unfinished(text);
}

/** Any plain JSON, such as a default of a schema. */
export function fromPlain(plain: unknown): Value {
  return plain === undefined ? undefined : readValue(JSON.stringify(plain));
}

/** As JSON; what is unfinished stands there as the text it is. */
export function writeValue(value: Value, indent = 0): string {
  return stringify(finished(value) ?? null, null, indent) ?? "null";
}

function finished(value: Value): unknown {
  if (value instanceof Unfinished) return value.text;
  if (Array.isArray(value)) return value.map(finished);
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, finished(one)]));
  return value;
}

export function sameValue(a: Value, b: Value): boolean {
  return a === b || (typeof a === typeof b && writeValue(a) === writeValue(b));
}

export function valueAt(value: Value, path: Path): Value {
  let found = value;
  for (const step of path) {
    if (Array.isArray(found) && typeof step === "number") found = found[step];
    else if (isRecord(found) && typeof step === "string" && Object.hasOwn(found, step)) found = found[step];
    else return undefined;
  }
  return found;
}

/** A new value with this one at its place. undefined takes a name out of an object; in a list it leaves a hole to be filled. */
export function withValueAt(value: Value, path: Path, given: Value): Value {
  const [step, ...rest] = path;
  if (step === undefined) return given;
  if (typeof step === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    list[step] = withValueAt(list[step], rest, given);
    return Array.from(list);
  }
  const record = isRecord(value) ? value : {};
  const inner = withValueAt(Object.hasOwn(record, step) ? record[step] : undefined, rest, given);
  const entries = Object.entries(record);
  // By entries, because a plain assignment to __proto__ would be something else.
  if (inner === undefined) return Object.fromEntries(entries.filter(([name]) => name !== step));
  return Object.hasOwn(record, step)
    ? Object.fromEntries(entries.map(([name, one]) => [name, name === step ? inner : one]))
    : Object.fromEntries([...entries, [step, inner]]);
}

/** How a scalar looks in a field or a sentence. */
export function shortText(value: Value, limit = 60): string {
  const text = value === undefined ? "" : typeof value === "string" ? value : writeValue(value);
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** Is it of a kind of field? Kinds that take several are not told apart here. */
export function isOfKind(kind: string, value: Value): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return isLosslessNumber(value);
    case "boolean":
      return typeof value === "boolean";
    case "list":
    case "tuple":
      return Array.isArray(value);
    case "object":
    case "record":
      return isRecord(value);
    default:
      return true;
  }
}

/** As one word of a command line; undefined: nothing was said. */
export function wordOf(value: Value): string | undefined {
  return value === undefined || value === null ? undefined : typeof value === "string" ? value : writeValue(value);
}
