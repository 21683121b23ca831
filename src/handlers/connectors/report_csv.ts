// CSV that is data and nothing else: RFC 4180, and no cell that a spreadsheet would take for a formula. Pure.

/** What spreadsheets start a formula with, also in full width, after whatever they skip. */
const formula = /^[\s\p{Z}\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;
/** A tab, a line break or a NUL at the start hides from a reader what comes after it. */
const hidden_start = /^\p{Cc}/u;
/** Semicolons and tabs are separators elsewhere; a blank at the edge is lost without quotes. */
const needs_quotes = /[",;\p{Cc}]|^[\s\ufeff]|\s$/u;

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
