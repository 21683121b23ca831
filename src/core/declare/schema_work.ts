// How much work it is to check a value by a JSON Schema that somebody sent: each alternative is tried on each item, and each
// field that is missing is told, so that a few kilobytes could keep everybody waiting. Counted before, and given up early. Pure.
import { isRecord } from "./report.js";

/** Steps of one check at most: some tenths of a second, where every single one finds something wrong. */
export const max_check_steps = 250_000;

/** A problem that is found is made and told: that takes longer than to find nothing. */
const steps_of_problem = 10;

/** What is left for the checks of one call. */
export interface CheckBudget {
  steps: number;
}

/** False when checking takes more than one check, or what is left of the budget, may. Counting takes no more than that either. */
export function spendOn(schema: unknown, value: unknown, budget: CheckBudget): boolean {
  const most = Math.min(max_check_steps, budget.steps);
  const work = new Work(most);
  work.count(schema, value, 1);
  budget.steps -= most - Math.max(0, work.left);
  return work.left >= 0;
}

class Work {
  constructor(public left: number) {}

  /** `tries`: alternatives around it are tried again to tell which one was meant. */
  count(schema: unknown, value: unknown, tries: number): void {
    this.left -= schema === false ? steps_of_problem * tries : tries;
    if (this.left < 0 || !isRecord(schema)) return;
    if (!isWithin(schema, value)) this.left -= steps_of_problem * tries;
    if ("enum" in schema || "const" in schema) this.countEnum(schema, value, tries);
    const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
    for (const type of types) this.left -= isOfType(type, value) ? 0 : steps_of_problem * tries;
    const inner = types.length > 1 ? tries + 1 : tries;
    if (Array.isArray(value)) this.countItems(schema, value, inner);
    else if (isRecord(value)) this.countFields(schema, value, inner);
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      const parts = schema[key];
      if (!Array.isArray(parts)) continue;
      for (const part of parts) this.count(part, value, tries + 1);
    }
  }

  /** What is none of them is told all of them. */
  private countEnum(schema: Record<string, unknown>, value: unknown, tries: number): void {
    const values = Array.isArray(schema.enum) ? schema.enum : [schema.const];
    if (values.includes(value)) this.left -= (values.length / 64) * tries;
    else for (const one of values) this.left -= (1 + String(one).length / 16) * tries;
  }

  private countItems(schema: Record<string, unknown>, items: readonly unknown[], tries: number): void {
    const { items: part, prefixItems, uniqueItems } = schema;
    // Compared as a whole.
    if (uniqueItems === true) this.countAll(items, tries);
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
    this.left -= first.length * tries;
    if (part === undefined && first.length === 0) return;
    for (const [position, item] of items.entries()) {
      if (this.left < 0) return;
      this.count(first[position] ?? part, item, tries);
    }
  }

  private countAll(value: unknown, tries: number): void {
    this.left -= tries;
    if (this.left < 0 || typeof value !== "object" || value === null) return;
    for (const part of Object.values(value)) this.countAll(part, tries);
  }

  private countFields(schema: Record<string, unknown>, fields: Record<string, unknown>, tries: number): void {
    const { properties, additionalProperties, required } = schema;
    const known = isRecord(properties) ? properties : {};
    // Also those that are not there.
    this.left -= Object.keys(known).length * tries;
    for (const name of Array.isArray(required) ? required : []) {
      if (!Object.hasOwn(fields, name)) this.left -= steps_of_problem * tries;
    }
    for (const [name, field] of Object.entries(fields)) {
      if (this.left < 0) return;
      this.count(Object.hasOwn(known, name) ? known[name] : additionalProperties, field, tries);
    }
  }
}

/** Formats are taken to fail: to try them would be the check itself. */
function isWithin(schema: Record<string, unknown>, value: unknown): boolean {
  const bound = (name: string, otherwise: number) => (typeof schema[name] === "number" ? schema[name] : otherwise);
  if (typeof value === "string") {
    const { length } = value;
    return schema.format === undefined && length >= bound("minLength", 0) && length <= bound("maxLength", Infinity);
  }
  if (Array.isArray(value)) return value.length >= bound("minItems", 0) && value.length <= bound("maxItems", Infinity);
  if (typeof value !== "number") return true;
  return (
    schema.multipleOf === undefined &&
    value >= bound("minimum", -Infinity) &&
    value <= bound("maximum", Infinity) &&
    value > bound("exclusiveMinimum", -Infinity) &&
    value < bound("exclusiveMaximum", Infinity)
  );
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
