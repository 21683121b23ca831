// A filter in CQL2 out of what is chosen in three fields. Pure.
import { isNumber } from "./style_classes.js";

export interface Comparison {
  value: string;
  text: string;
  /** null: no value is asked for. */
  takes: "value" | "part" | null;
}

const equal: Comparison[] = [
  { value: "=", text: "is", takes: "value" },
  { value: "<>", text: "is not", takes: "value" },
];
const order: Comparison[] = [
  { value: ">=", text: "is at least", takes: "value" },
  { value: "<=", text: "is at most", takes: "value" },
];
const missing: Comparison[] = [
  { value: "IS NULL", text: "has no value", takes: null },
  { value: "IS NOT NULL", text: "has a value", takes: null },
];

export function comparisonsOf(type: string): Comparison[] {
  if (type === "json") return missing;
  if (type === "string") return [{ value: "LIKE", text: "contains", takes: "part" }, ...equal, ...missing];
  return type === "boolean" ? [...equal.slice(0, 1), ...missing] : [...order, ...equal, ...missing];
}

/** Null where the value cannot be one of the column. */
export function comparisonText(column: string, type: string, comparison: Comparison, value: string): string | null {
  const name = /^[a-z_][a-z0-9_]*$/i.test(column) ? column : `"${column.replaceAll('"', '""')}"`;
  if (comparison.takes === null) return `${name} ${comparison.value}`;
  if (comparison.takes === "part") {
    const part = value.replaceAll(/[\\%_]/g, "\\$&");
    return value === "" ? null : `CASEI(${name}) LIKE CASEI(${quoted(`%${part}%`)})`;
  }
  const literal = literalOf(type, value.trim());
  return literal === null ? null : `${name} ${comparison.value} ${literal}`;
}

function literalOf(type: string, value: string): string | null {
  if (isNumber(type)) return value !== "" && Number.isFinite(Number(value)) ? value : null;
  if (type === "boolean") return /^(true|false)$/i.test(value) ? value.toUpperCase() : null;
  if (type === "date") return /^\d{4}-\d\d-\d\d$/.test(value) ? `DATE('${value}')` : null;
  if (type === "datetime") {
    const at = new Date(value);
    return Number.isNaN(at.getTime()) ? null : `TIMESTAMP('${at.toISOString()}')`;
  }
  return quoted(value);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** One more condition; what stands there already stays as it is. */
export function withCondition(filter: string, condition: string): string {
  const before = filter.trim();
  if (before === "") return condition;
  return / or /i.test(before) ? `(${before}) AND ${condition}` : `${before} AND ${condition}`;
}
