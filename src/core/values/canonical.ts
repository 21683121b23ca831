// RFC 8785 canonical JSON: equal values give equal bytes, whatever the order of keys. app.canonical does the same in
// SQL; test/vectors/canonical.json binds the two. Pure.
import { ValueProblems } from "../errors/errors.js";
import { type JsonLimits, json_limits, jsonProblems } from "./json_values.js";

/** Throws ValueProblems with everything that keeps the value from being stored. */
export function canonicalJson(value: unknown, limits: JsonLimits = json_limits): string {
  const problems = jsonProblems(value, limits);
  if (problems.length > 0) throw new ValueProblems(problems);
  return writeCanonical(value);
}

/** The caller has looked through the value already. */
export function writeCanonical(value: unknown): string {
  // Scalars are written by ECMAScript's own rules, which RFC 8785 adopts; JSON.stringify(-0) is "0".
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(writeCanonical).join(",")}]`;
  const record = value as Record<string, unknown>;
  // sort() without a comparator orders by UTF-16 code units, as the RFC asks.
  const members = Object.keys(record)
    .filter((key) => record[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${writeCanonical(record[key])}`);
  return `{${members.join(",")}}`;
}
