// Which values are JSON as we store it: what Postgres, JavaScript and Python all keep without loss. One walk finds
// everything that is wrong, with the path to it. Reading text is json.ts. Pure.
import { jsonPath, kindOf, max_problems, type Problem, type Step } from "../errors/problems.js";

export interface JsonLimits {
  max_depth: number;
  max_keys: number;
  /** Keys and array items together: a value that refers to itself from two sides would be walked for ever. */
  max_values: number;
  /** A key whose value is undefined is absent, as optional keys in TypeScript mean it. */
  skip_undefined: boolean;
  /** As JSON.stringify writes it: toJSON() is called, instances are taken for their fields, long integers for doubles. */
  as_stringified: boolean;
}

export const json_limits: JsonLimits = {
  max_depth: 100,
  max_keys: 100_000,
  max_values: 1_000_000,
  skip_undefined: false,
  as_stringified: false,
};

/** For what a handler returns: as large as storage takes, written as JSON.stringify writes it. */
export const result_limits: JsonLimits = {
  max_depth: 100,
  max_keys: 10_000_000,
  max_values: 10_000_000,
  skip_undefined: true,
  as_stringified: true,
};

/** From here on canonical JSON writes an exponent, so that nobody takes the number for a count or an id. */
const exponents_from = 1e21;

/** null when the number is kept by every language that reads it. */
export function numberProblem(value: number): { problem: string; fix: string } | null {
  if (!Number.isFinite(value)) {
    return { problem: `${value} is not a number JSON knows`, fix: "Leave it out, or use null." };
  }
  const size = Math.abs(value);
  if (Number.isInteger(value) && size > Number.MAX_SAFE_INTEGER && size < exponents_from) {
    return {
      problem: "is an integer beyond ±9007199254740991, whose last digits would be lost",
      fix: "Send it as a string.",
    };
  }
  return null;
}

export function textProblem(text: string): { problem: string; fix: string } | null {
  if (text.includes("\0")) {
    return { problem: "holds a NUL character (\\u0000), which Postgres cannot store", fix: "Remove it." };
  }
  if (!text.isWellFormed()) {
    return { problem: "holds half a surrogate pair, which is no character", fix: "Repair the text's encoding." };
  }
  return null;
}

export const unsafe_key = {
  problem: "is a key that changes what objects are in JavaScript",
  fix: "Use another name.",
};

/** Everything that keeps the value from being stored, at most 20 problems. */
export function jsonProblems(value: unknown, limits: JsonLimits = json_limits): Problem[] {
  return examineJson(value, limits).problems;
}

/** `endless`: the value contains itself, is too deep or too large, so that nobody else should walk it either. */
export function examineJson(value: unknown, limits: JsonLimits): { problems: Problem[]; endless: boolean } {
  const walk = new Walk(limits);
  walk.visit(value);
  return { problems: walk.problems, endless: walk.endless };
}

const unknown_fixes: ReadonlyMap<string, string> = new Map([
  ["bigint", "Send it as a string."],
  ["undefined", "Leave it out, or use null."],
]);

const send_a_reference = "Put the data into storage and pass a reference.";

class Walk {
  readonly problems: Problem[] = [];
  endless = false;
  private readonly path: Step[] = [];
  private readonly ancestors = new Set<object>();
  private keys = 0;
  private values = 0;
  private stopped = false;

  constructor(private readonly limits: JsonLimits) {}

  visit(value: unknown): void {
    if (this.stopped) return;
    if (value === null || typeof value === "boolean") return;
    if (typeof value === "string") this.note(textProblem(value));
    else if (typeof value === "number") this.visitNumber(value);
    else if (typeof value === "object") this.visitObject(value);
    else
      this.report(`is ${kindOf(value)}, which JSON does not know`, unknown_fixes.get(typeof value) ?? "Leave it out.");
  }

  private visitNumber(value: number): void {
    // A computed result (a sum of squares) may well be a double beyond 2^53; only what names things must be exact.
    if (!(this.limits.as_stringified && Number.isFinite(value))) this.note(numberProblem(value));
  }

  private visitObject(value: object): void {
    if (this.ancestors.has(value)) {
      this.endless = true;
      this.report("contains itself", "Send a tree: refer to the other place by a name.");
    } else if (this.ancestors.size >= this.limits.max_depth) {
      this.stop(`is nested deeper than ${this.limits.max_depth} levels`, "Flatten it.");
    } else {
      this.ancestors.add(value);
      if (Array.isArray(value)) this.visitArray(value);
      else this.visitRecord(value);
      this.ancestors.delete(value);
    }
  }

  private visitArray(items: readonly unknown[]): void {
    for (let position = 0; position < items.length && !this.stopped; position++) {
      this.step(position, items[position]);
    }
  }

  private visitRecord(value: object): void {
    const { as_stringified } = this.limits;
    if (as_stringified && typeof (value as { toJSON?: unknown }).toJSON === "function") {
      this.visit((value as { toJSON(): unknown }).toJSON());
    } else if (as_stringified ? writesAsObject(value) : isPlain(value)) {
      this.visitKeys(value as Record<string, unknown>);
    } else {
      const fix = value instanceof Date ? "Use .toISOString()." : "Send plain objects, arrays and scalars.";
      this.report(`is ${kindOf(value)}, which JSON does not know`, fix);
    }
  }

  private visitKeys(record: Record<string, unknown>): void {
    if (Object.getOwnPropertySymbols(record).length > 0) this.report("has a symbol as key", "Use text keys.");
    for (const key of Object.keys(record)) {
      if (this.stopped) return;
      const value = record[key];
      if (value === undefined && this.limits.skip_undefined) continue;
      this.keys += 1;
      if (this.keys > this.limits.max_keys) this.stop(`has more than ${this.limits.max_keys} keys`, send_a_reference);
      this.step(key, value);
    }
  }

  private step(step: Step, value: unknown): void {
    this.values += 1;
    if (this.values > this.limits.max_values) {
      this.stop(`holds more than ${this.limits.max_values} values`, send_a_reference);
    }
    this.path.push(step);
    if (typeof step === "string") {
      this.note(textProblem(step));
      if (isUnsafeKey(step, value)) this.note(unsafe_key);
    }
    this.visit(value);
    this.path.pop();
  }

  private note(found: { problem: string; fix: string } | null): void {
    if (found !== null) this.report(found.problem, found.fix);
  }

  private report(problem: string, fix: string): void {
    if (this.stopped) return;
    this.problems.push({ path: jsonPath(this.path), problem, fix });
    if (this.problems.length >= max_problems) this.stopped = true;
  }

  private stop(problem: string, fix: string): void {
    this.endless = true;
    this.report(problem, fix);
    this.stopped = true;
  }
}

/** `__proto__`, and `constructor` with a `prototype`: merged into another object, they would change all objects. */
export function isUnsafeKey(key: string, value: unknown): boolean {
  if (key === "__proto__") return true;
  return key === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
}

/** True also for objects of another realm, whose Object.prototype is not ours. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Instances of people's classes, but not Map, Error, Promise or Uint8Array, whose content JSON.stringify would drop. */
function writesAsObject(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object Object]";
}
