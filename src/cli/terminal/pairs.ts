// `key=value` arguments into parameters. Pure: text in, parameters and problems out, all problems at once.
// A value that is JSON is taken as JSON, anything else as text: n=3 is a number, name=Ada and name='"3"' are texts.
// A dot in the key makes a nested object: grid.size=5 is {"grid":{"size":5}}.

import type { Problem } from "../../core/errors/problems.js";
import { parseJson } from "../../core/values/json.js";
import { problemsOf } from "./failure.js";

export type Parameters = Record<string, unknown>;

// Assigning these would reach the prototype of every object instead of a parameter.
const forbidden = new Set(["__proto__", "prototype", "constructor"]);

export function readPairs(
  pairs: readonly string[],
  base: Parameters = {},
): { parameters: Parameters; problems: Problem[] } {
  const problems: Problem[] = [];
  const parameters = structuredClone(base);
  const seen = new Set<string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const key = at < 0 ? pair : pair.slice(0, at);
    if (at < 1) {
      problems.push({ path: pair, problem: "is not key=value", fix: `write ${key || "key"}=…` });
      continue;
    }
    const problem = keyProblem(key, seen);
    if (problem) {
      problems.push({ path: key, ...problem });
      continue;
    }
    seen.add(key);
    const value = readValue(pair.slice(at + 1), key, problems);
    if (value !== undefined) setAt(parameters, key, value, problems);
  }
  return { parameters, problems };
}

function keyProblem(key: string, seen: ReadonlySet<string>): Omit<Problem, "path"> | null {
  const parts = key.split(".");
  if (parts.includes("")) return { problem: "has an empty name between dots", fix: "write a.b=…" };
  const bad = parts.find((part) => forbidden.has(part));
  if (bad) return { problem: `"${bad}" cannot be the name of a parameter`, fix: "choose another name" };
  if (seen.has(key)) return { problem: "is given twice", fix: "give it once" };
  return null;
}

/** undefined when the value is refused: it reads as JSON, but not as JSON that every machine reads alike. */
function readValue(text: string, key: string, problems: Problem[]): unknown {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  try {
    return parseJson(text);
  } catch (error) {
    const fix = `if it is meant as text, quote it: ${key}='${JSON.stringify(text)}'`;
    for (const one of problemsOf(error)) problems.push({ path: key, problem: one.problem, fix: one.fix || fix });
    return undefined;
  }
}

function setAt(parameters: Parameters, key: string, value: unknown, problems: Problem[]): void {
  const parts = key.split(".");
  const last = parts.pop() as string;
  let target = parameters;
  for (const part of parts) {
    const inner = Object.hasOwn(target, part) ? target[part] : undefined;
    if (inner === undefined) target[part] = {};
    else if (typeof inner !== "object" || inner === null || Array.isArray(inner)) {
      const problem = `"${part}" already has a value that is not an object`;
      problems.push({ path: key, problem, fix: `leave out ${part}=… or ${key}=…` });
      return;
    }
    target = target[part] as Parameters;
  }
  target[last] = value;
}

/** The text of --parameters (a file or standard input) must be one JSON object. */
export function readParameterText(
  text: string | Uint8Array,
  source: string,
): { parameters: Parameters; problems: Problem[] } {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return {
      parameters: {},
      problems: problemsOf(error).map((one) => ({ ...one, path: `${source} ${one.path}`.trim() })),
    };
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { parameters: value as Parameters, problems: [] };
  }
  const found = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
  return {
    parameters: {},
    problems: [{ path: source, problem: `is ${found}, not an object`, fix: 'write {"key": value}' }],
  };
}
