// What is wrong with a value, as one types: the same words at the same places as the server's, as far as a schema tells. The server
// has the last word. Pure.
import { jsonPath, type Problem } from "../../../src/core/errors/problems.js";
import { chosenAlternative } from "./choices.js";
import { type Bound, most_depth, readSchema, type Schema, type Shape } from "./schema.js";
import { isLosslessNumber, isOfKind, type Path, sameValue, shortText, Unfinished, type Value } from "./values.js";

const MOST_PROBLEMS = 100;
const MOST_LOOKED_AT = 20_000;

/** Alternatives within alternatives are tried with what is left of it: no schema makes a check take for ever. */
export interface Budget {
  left: number;
}

interface Looking {
  root: Schema;
  problems: Problem[];
  budget: Budget;
}

/** `required`: there must be one. */
export function checkValue(
  schema: Schema,
  value: Value,
  root: Schema,
  required = true,
  budget: Budget = { left: MOST_LOOKED_AT },
): Problem[] {
  const looking: Looking = { root, problems: [], budget };
  look(looking, schema, value, [], required, 0);
  return looking.problems;
}

function add(looking: Looking, path: Path, problem: string, fix = ""): void {
  if (looking.problems.length < MOST_PROBLEMS) looking.problems.push({ path: jsonPath(path), problem, fix });
}

function look(looking: Looking, schema: Schema, value: Value, path: Path, required: boolean, depth: number): void {
  if (looking.budget.left-- <= 0) return;
  const { shape, nullable, default: usual } = readSchema(schema, looking.root);
  if (value === undefined) {
    if (required && usual === undefined) add(looking, path, "is missing", `Give ${wordOf(shape)}.`);
    return;
  }
  if (value === null && nullable) return;
  if (value instanceof Unfinished) {
    const wanted = shape.kind === "number" ? "a number" : "JSON";
    add(
      looking,
      path,
      `is not ${wanted}: ${shortText(value.text)}`,
      shape.kind === "number" ? "Write it as 12.5." : "",
    );
    return;
  }
  if (depth > most_depth + 4) return;
  if (!isOfKind(shape.kind, value)) {
    add(looking, path, `expected ${wordOf(shape)}, got ${gotWord(value)}`, `Give ${wordOf(shape)}.`);
    return;
  }
  lookInto(looking, shape, value, path, depth);
}

function lookInto(looking: Looking, shape: Shape, value: Value, path: Path, depth: number): void {
  switch (shape.kind) {
    case "text":
      lookAtText(looking, shape, value as string, path);
      return;
    case "number":
      lookAtNumber(looking, shape, Number(String(value)), path);
      return;
    case "enum":
      if (!shape.values.some((one) => sameValue(one, value))) {
        const words = shape.values.slice(0, 8).map((one) => shortText(one));
        add(looking, path, `is none of the values it may have`, `One of ${words.join(", ")}.`);
      }
      return;
    case "const":
      if (!sameValue(shape.value, value)) add(looking, path, `must be ${shortText(shape.value)}`);
      return;
    case "list": {
      const list = value as Value[];
      lookAtCount(looking, list.length, shape.least, shape.most, "entries", path);
      for (const [at, one] of list.entries()) look(looking, shape.item, one, [...path, at], true, depth + 1);
      if (shape.unique && new Set(list.map((one) => shortText(one, 1000))).size < list.length) {
        add(looking, path, "has the same entry twice", "Keep each once.");
      }
      return;
    }
    case "tuple": {
      const list = value as Value[];
      for (const [at, item] of shape.items.entries()) look(looking, item, list[at], [...path, at], true, depth + 1);
      for (let at = shape.items.length; at < list.length; at++) {
        if (shape.rest === null) {
          add(looking, path, `must have ${shape.items.length} entries`, `Keep it to ${shape.items.length}.`);
          return;
        }
        look(looking, shape.rest, list[at], [...path, at], true, depth + 1);
      }
      return;
    }
    case "object": {
      const record = value as { [name: string]: Value };
      const known = new Set<string>();
      for (const { name, required, schema } of shape.properties) {
        known.add(name);
        const given = Object.hasOwn(record, name) ? record[name] : undefined;
        look(looking, schema, given, [...path, name], required, depth + 1);
      }
      for (const [name, one] of Object.entries(record)) {
        if (known.has(name)) continue;
        if (shape.others === null)
          add(looking, [...path, name], `${JSON.stringify(name)} is not known`, "Take it out.");
        else look(looking, shape.others, one, [...path, name], true, depth + 1);
      }
      return;
    }
    case "record": {
      const entries = Object.entries(value as { [name: string]: Value });
      lookAtCount(looking, entries.length, shape.least, null, "keys", path);
      for (const [name, one] of entries) look(looking, shape.item, one, [...path, name], true, depth + 1);
      return;
    }
    case "choice": {
      const at = depth > most_depth ? null : chosenAlternative(shape.alternatives, value, looking.root, looking.budget);
      if (at === null)
        add(looking, path, "fits none of the alternatives", shape.alternatives.map(({ label }) => label).join(" · "));
      else look(looking, shape.alternatives[at]?.schema, value, path, true, depth + 1);
      return;
    }
    default:
      return;
  }
}

function lookAtCount(
  looking: Looking,
  count: number,
  least: number | null,
  most: number | null,
  unit: string,
  path: Path,
): void {
  const one = (n: number) => (n === 1 ? unit.replace(/ies$/, "y").replace(/s$/, "") : unit);
  if (least !== null && count < least) add(looking, path, `must have at least ${least} ${one(least)}`);
  if (most !== null && count > most) add(looking, path, `must have at most ${most} ${one(most)}`);
}

function lookAtText(looking: Looking, shape: Extract<Shape, { kind: "text" }>, text: string, path: Path): void {
  lookAtCount(looking, text.length, shape.least, shape.most, "characters", path);
  const wrong = formatProblem(shape.format, text) ?? patternProblem(shape.pattern, text);
  if (wrong !== null) add(looking, path, wrong.problem, wrong.fix);
}

function formatProblem(format: string | null, text: string): { problem: string; fix: string } | null {
  const ok = format === null || text === "" ? true : formats[format]?.fits(text);
  return ok === false
    ? { problem: `is not ${formats[format as string]?.word}`, fix: formats[format as string]?.fix ?? "" }
    : null;
}

const is_date = (text: string) => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};

const formats: Record<string, { word: string; fix: string; fits(text: string): boolean }> = {
  date: {
    word: "a date",
    fix: "Write it as 2030-01-31.",
    fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && is_date(text),
  },
  "date-time": {
    word: "a time",
    fix: "Write it as 2030-01-31T12:00:00Z.",
    fits: (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && is_date(text.slice(0, 10)),
  },
  time: {
    word: "a time of day",
    fix: "Write it as 12:00:00.",
    fits: (text) => /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.test(text),
  },
  uri: { word: "an address", fix: "Write it as https://example.com/path.", fits: (text) => URL.canParse(text) },
  email: {
    word: "an e-mail address",
    fix: "Write it as ada@example.com.",
    fits: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
  },
  uuid: { word: "a UUID", fix: "", fits: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) },
};

/** A pattern may be made to take for ever: only plain ones are tried here, on short text. The server tries them all. */
function patternProblem(pattern: string | null, text: string): { problem: string; fix: string } | null {
  if (pattern === null || pattern.length > 300 || text.length > 200 || /[+*}]\)?[+*{]|\)[+*{]|\\[1-9]/.test(pattern))
    return null;
  try {
    return new RegExp(pattern, "u").test(text)
      ? null
      : { problem: "is not written as it must be", fix: `Write it as ${pattern}.` };
  } catch {
    return null;
  }
}

function lookAtNumber(looking: Looking, shape: Extract<Shape, { kind: "number" }>, number: number, path: Path): void {
  if (!Number.isFinite(number)) {
    add(looking, path, "is too large for a number", "Give a smaller one.");
    return;
  }
  if (shape.whole && !Number.isInteger(number)) {
    add(looking, path, `expected a whole number, got ${number}`);
    return;
  }
  const beyond = (bound: Bound | null, side: 1 | -1) =>
    bound !== null && (bound.inclusive ? side * number > side * bound.value : side * number >= side * bound.value);
  if (beyond(shape.minimum, -1))
    add(looking, path, `must be ${boundText(shape.minimum as Bound, "at least", "more than")}`);
  if (beyond(shape.maximum, 1))
    add(looking, path, `must be ${boundText(shape.maximum as Bound, "at most", "less than")}`);
  if (shape.step !== null && Math.abs(number / shape.step - Math.round(number / shape.step)) > 1e-9) {
    add(looking, path, `must be a multiple of ${shape.step}`);
  }
}

export function boundText({ value, inclusive }: Bound, closed: string, open: string): string {
  return `${inclusive ? closed : open} ${value}`;
}

export function wordOf(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return formats[shape.format ?? ""]?.word ?? "a text";
    case "number":
      return shape.whole ? "a whole number" : "a number";
    case "boolean":
      return "true or false";
    case "list":
    case "tuple":
      return "a list";
    case "object":
    case "record":
      return "an object";
    case "enum":
      return "one of its values";
    default:
      return "a value";
  }
}

function gotWord(value: Value): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isLosslessNumber(value)) return "a number";
  return { string: "text", boolean: "true or false" }[typeof value as string] ?? "an object";
}
