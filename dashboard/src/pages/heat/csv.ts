// Tasks as a table for a spreadsheet. What a task says is hostile: a spreadsheet must show it, and calculate nothing. Pure.

export type CsvValue = string | number | null | undefined;

/** Quoted where it must be; a text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvField(value: CsvValue): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const plain = /^[=+\-@\t\r\n|%]/.test(value.trimStart()) || /^[\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n;]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** With the mark by which spreadsheets know UTF-8. */
export function csvText(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return `\ufeff${[columns, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("")}`;
}
