// Collects problems while declarations are read, so that all of them are told at once. Pure.
import { kindOf, type Problem, quoted, suggestion } from "../errors/problems.js";

export class Report {
  constructor(
    readonly problems: Problem[],
    private readonly where: string,
  ) {}

  /** A report about a part of this one; everything lands in the same list. */
  at(part: string): Report {
    return new Report(this.problems, this.where === "" ? part : `${this.where}, ${part}`);
  }

  add(part: string, problem: string, fix: string): void {
    this.problems.push({ path: part === "" ? this.where : `${this.where}, ${part}`, problem, fix });
  }

  /** A misspelt option would otherwise be an option silently not set. */
  unknownKeys(value: object, known: readonly string[]): void {
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.add("", `has an unknown key ${quoted(key)}`, suggestion(key, known));
    }
  }

  /** The value if it is a whole number in the range; null if absent; null with a problem otherwise. */
  wholeNumber(part: string, value: unknown, lowest: number, highest: number): number | null {
    if (value === undefined || value === null) return null;
    if (Number.isInteger(value) && (value as number) >= lowest && (value as number) <= highest) return value as number;
    this.add(
      part,
      `must be a whole number from ${lowest} to ${highest}, not ${quoted(value)}`,
      "Correct it or leave it out.",
    );
    return null;
  }

  boolean(part: string, value: unknown): boolean | null {
    if (value === undefined || value === null) return null;
    if (typeof value === "boolean") return value;
    this.add(part, `must be true or false, not ${quoted(value)}`, "Correct it or leave it out.");
    return null;
  }

  oneOf<const Word extends string>(part: string, value: unknown, words: readonly Word[], fallback: Word): Word {
    if (value === undefined) return fallback;
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const fix = typeof value === "string" ? suggestion(value, words) : `Use one of: ${words.join(", ")}.`;
    this.add(part, `${quoted(value)} is not one of ${words.join(", ")}`, fix);
    return fallback;
  }

  /** The value if it is a plain record; a problem and null otherwise. */
  record(part: string, value: unknown, fix: string): Record<string, unknown> | null {
    if (isRecord(value)) return value;
    this.add(part, `must be an object, not ${kindOf(value)}`, fix);
    return null;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
