// A page that stands alone and does nothing: every value is escaped for where it stands, nothing becomes a link or markup, and
// the page itself forbids scripts, forms and everything from elsewhere. Pure.
import { createHash } from "node:crypto";

const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Good between tags and inside quoted attributes. Characters that no page may hold, or that turn text around, are made visible. */
export function escapeHtml(value: unknown): string {
  const text =
    value === null || value === undefined ? "" : typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) =>
      "\t\n\r".includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    )
    .replace(/[&<>"'`]/g, (character) => escapes[character]!);
}

const style = `
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
p.note { color: GrayText; margin-top: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid color-mix(in srgb, CanvasText 18%, Canvas); padding: 0.3rem 0.6rem; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; white-space: pre-wrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
`;
const style_hash = createHash("sha256").update(style).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${style_hash}'; base-uri 'none'; form-action 'none'`;

export function pageStart(title: string, note: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p class="note">${escapeHtml(note)}</p>
`;
}

export const page_end = "</body>\n</html>\n";

export function heading(text: string): string {
  return `<h2>${escapeHtml(text)}</h2>\n`;
}

export function tableStart(columns: readonly string[]): string {
  const cells = columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`).join("");
  return `<table>\n<thead><tr>${cells}</tr></thead>\n<tbody>\n`;
}

export function tableRow(values: readonly unknown[]): string {
  const cells = values.map((value) =>
    typeof value === "number" ? `<td class="number">${escapeHtml(value)}</td>` : `<td>${escapeHtml(value)}</td>`,
  );
  return `<tr>${cells.join("")}</tr>\n`;
}

export const table_end = "</tbody>\n</table>\n";

export function table(columns: readonly string[], rows: Iterable<readonly unknown[]>): string {
  return tableStart(columns) + Array.from(rows, tableRow).join("") + table_end;
}
