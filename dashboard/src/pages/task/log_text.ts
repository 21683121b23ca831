// Log lines as text: what terminals would obey is taken out or shown, and what was searched for is marked. Pure.
import { readJson } from "../../ui/json_text.js";

export interface LogLine {
  log_id: number;
  at: string;
  attempt: number;
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** JSON text, with every digit; null: none. */
  data: string | null;
}

export interface LogPage {
  lines: LogLine[];
  looked_at: number;
  older: string | null;
  newer: string;
  more: boolean;
}

/** A page from the text of its answer: parsing it whole would round the numbers that handlers logged. */
export function readLogPage(text: string): LogPage {
  const root = readJson(text);
  const page = JSON.parse(text) as Omit<LogPage, "lines"> & { lines: (Omit<LogLine, "data"> & { data: unknown })[] };
  const nodes = root.children.find(({ key }) => key === "lines")?.children ?? [];
  const lines = page.lines.map((line, position): LogLine => {
    const data = nodes[position]?.children.find(({ key }) => key === "data");
    return { ...line, data: line.data === null || data === undefined ? null : text.slice(data.from, data.to) };
  });
  return { ...page, lines };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that colour a terminal begin with one
const colours = /\u001b\[[0-9;:]*m/g;

/** Colours are dropped; every other sequence stays, and is shown as what it is. */
export function withoutColours(message: string): string {
  return message.replace(colours, "");
}

export interface Piece {
  text: string;
  hit: boolean;
}

/** The text cut where the words are found, case aside. */
export function piecesOf(text: string, words: string): Piece[] {
  const wanted = words.toLowerCase();
  if (wanted === "") return [{ text, hit: false }];
  const lower = text.toLowerCase();
  // Where lower case has another length, positions would not be those of the text.
  if (lower.length !== text.length) return [{ text, hit: false }];
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    if (at > from) pieces.push({ text: text.slice(from, at), hit: false });
    pieces.push({ text: text.slice(at, at + wanted.length), hit: true });
    from = at + wanted.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hit: false });
  return pieces;
}

/** For a file or the clipboard: one line of the log per line, tabs between its parts. */
export function plainLines(lines: readonly LogLine[]): string {
  return lines
    .map(({ at, attempt, level, message, data }) =>
      [at, `attempt ${attempt}`, level, withoutColours(message), ...(data === null ? [] : [data])].join("\t"),
    )
    .join("\n");
}

const MOST_LINES = 20_000;

export interface Log {
  lines: readonly LogLine[];
  older: string | null;
  newer: string | null;
}

export const empty_log: Log = { lines: [], older: null, newer: null };

/** What is logged next is put behind; of very many the oldest go, and can be had again. */
export function appended(log: Log, page: LogPage): Log {
  const last = log.lines.at(-1)?.log_id ?? -1;
  const lines = [...log.lines, ...page.lines.filter(({ log_id }) => log_id > last)];
  const kept = lines.slice(-MOST_LINES);
  return {
    lines: kept,
    older: kept.length < lines.length ? String(kept[0]!.log_id) : log.older,
    newer: page.newer,
  };
}

/** What came before is put in front; it is what somebody looks for, so nothing goes. */
export function prepended(log: Log, page: LogPage): Log {
  const first = log.lines[0]?.log_id ?? Infinity;
  return { ...log, lines: [...page.lines.filter(({ log_id }) => log_id < first), ...log.lines], older: page.older };
}
