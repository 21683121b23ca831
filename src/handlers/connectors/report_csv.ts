// CSV that is data and nothing else: RFC 4180, and no cell that a spreadsheet would take for a formula. Pure.

/** What spreadsheets start a formula with, also in full width; and what they skip before it. */
const formula = /^[\s\u0000-\u0020\u00a0\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
/** Cells that start so are read as if it were not there. */
const hidden_start = /^[\t\r\n\u0000]/;
/** Semicolons and tabs are separators elsewhere; a blank at the edge is lost without quotes. */
const needs_quotes = /[",;\t\r\n\u0000]|^[\s\ufeff]|\s$/;

/** A value as one cell. Only what is a number is written as one: the text "-2" is a text. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const safe = formula.test(text) || hidden_start.test(text) ? `'${text}` : text;
  return needs_quotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(values: readonly unknown[]): string {
  // A line of one empty cell would be an empty line, which readers skip.
  return `${values.length === 1 && csvCell(values[0]) === "" ? '""' : values.map(csvCell).join(",")}\r\n`;
}
