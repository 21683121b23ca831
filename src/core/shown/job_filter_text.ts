// The text of a job filter cut into terms, and terms written so that they are read as what they were. Quotes keep spaces, commas
// and colons together; \" and \\ stand for themselves within them. Pure.
import type { FilterProblem, JobTerms } from "./job_filter.js";

export interface Piece {
  text: string;
  quoted: boolean;
  from: number;
  to: number;
}

export interface Term {
  /** null: a free word. */
  key: string | null;
  pieces: Piece[];
  from: number;
  to: number;
}

export function readTerms(text: string): { terms: Term[]; problems: FilterProblem[] } {
  const terms: Term[] = [];
  const problems: FilterProblem[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at]!)) {
      at++;
      continue;
    }
    const from = at;
    const key = /^([A-Za-z_]{1,40}):/.exec(text.slice(at, at + 42))?.[1] ?? null;
    if (key !== null) at += key.length + 1;
    const pieces: Piece[] = [];
    while (at < text.length && !/\s/.test(text[at]!)) {
      const piece = text[at] === '"' ? quotedPiece(text, at) : barePiece(text, at);
      if (piece === null) {
        const rest = text.slice(at + 1);
        const fix = 'Put " behind the text, or \\" for a quote within it.';
        problems.push({ from: at, to: text.length, problem: "the quote does not end", fix });
        pieces.push({ text: unescaped(rest), quoted: true, from: at, to: text.length });
        at = text.length;
        break;
      }
      pieces.push(piece);
      at = piece.to;
    }
    terms.push({ key: key?.toLowerCase() ?? null, pieces, from, to: at });
  }
  return { terms, problems };
}

function barePiece(text: string, from: number): Piece {
  const [found] = /^[^\s"]+/.exec(text.slice(from))!;
  return { text: found, quoted: false, from, to: from + found.length };
}

function quotedPiece(text: string, from: number): Piece | null {
  const found = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(text.slice(from));
  if (found === null) return null;
  return { text: unescaped(found[1]!), quoted: true, from, to: from + found[0].length };
}

function unescaped(text: string): string {
  return text.replace(/\\(["\\])/g, "$1");
}

export function formatJobFilter(terms: JobTerms): string {
  const out: string[] = [];
  const list = (key: string, values: readonly string[]) => {
    if (values.length > 0) out.push(`${key}:${values.map((value) => written(value, /[\s",]|^$/)).join(",")}`);
  };
  list("type", terms.types);
  list("status", terms.statuses);
  list("is", terms.conditions);
  for (const key of ["id", "error", "group", "correlation"] as const) {
    const value = terms[key];
    if (value !== null) out.push(`${key}:${written(value, /[\s"]|^$/)}`);
  }
  for (const key of ["created", "finished"] as const) {
    if (terms[key].from !== null) out.push(`${key}:>${terms[key].from}`);
    if (terms[key].to !== null) out.push(`${key}:<${terms[key].to}`);
  }
  const { from, to } = terms.priority;
  if (from !== null && from === to) out.push(`priority:${from}`);
  else if (from !== null && to !== null) out.push(`priority:${from}..${to}`);
  else if (from !== null) out.push(`priority:>=${from}`);
  else if (to !== null) out.push(`priority:<=${to}`);
  for (const { key, value } of terms.labels) out.push(`label:${labelText(key, value)}`);
  for (const word of terms.words) out.push(formatWord(word));
  return out.join(" ");
}

/** So that it is read as this one word. */
export function formatWord(word: string): string {
  return written(word, /[\s":]|^$/);
}

function labelText(key: string, value: string | null): string {
  const name = written(key, /[\s",=]|^$/);
  if (value === null) return key.includes("=") ? `${name}=*` : name;
  return `${name}=${value === "" ? "" : written(value, /[\s",]|^\*$/)}`;
}

function written(text: string, needs_quotes: RegExp): string {
  return needs_quotes.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : text;
}

/** The words of a text that is nothing but words: quotes keep several together. */
export function splitWords(text: string): string[] {
  const words = readTerms(text).terms.map(({ key, pieces }) => {
    const value = pieces.map((piece) => piece.text).join("");
    return key === null ? value : `${key}:${value}`;
  });
  return [...new Set(words.filter((word) => word !== ""))];
}
