// The one door between the engine and a database: what a driver offers, and everything in which the two drivers must
// not differ (statement texts, values in and out, errors). It opens no connection; the drivers do.

import type { CopyRows } from "../../core/task/context.js";
import type { WayFacts } from "./server_way.js";

export interface Stoppable {
  stop(): Promise<void>;
}

export interface Listening extends Stoppable {
  /** Whether what is notified arrives. It may not, behind a pooler or while a connection is lost: then one looks for oneself. */
  readonly hears: boolean;
}

/** Objects and arrays travel as JSON text: `${JSON.stringify(x)}::text::json`. */
export type Scalar = string | number | boolean | null;

export interface Queryable {
  /** db.sql<Row>`select app.claim(${json}::text::json) as reply`. A value's type is what the statement casts it to. */
  sql<Row = Record<string, unknown>>(strings: TemplateStringsArray, ...values: Scalar[]): Promise<Row[]>;
  /** Text without parameters, may hold several statements. */
  script(text: string): Promise<void>;
}

/** What a statement answers with: how its columns are called, and their types by oid. */
export interface Column {
  name: string;
  type: number;
}

/** A transaction as its work sees it. */
export interface OpenTransaction extends Queryable {
  /** Looks at a text without running it: refused unless it is one statement. No columns: it gives no rows. */
  describe(text: string): Promise<Column[]>;
}

export type { CopyRows };

export interface Database extends Queryable {
  readonly kind: "server" | "embedded";
  transaction<T>(work: (tx: OpenTransaction) => Promise<T>): Promise<T>;
  /** COPY into a table, all rows or none. Gives the number of rows. */
  copy(table: string, columns: readonly string[], rows: CopyRows): Promise<number>;
  /** Listens until stopped, again after every connection loss; `on_listening` is called each time LISTEN is in force. */
  listen(channel: string, on_message: (payload: string) => void, on_listening?: () => void): Promise<Listening>;
  /** How busy its connections are, where it has several. `stuck`: somebody waits who should have been refused by now. */
  load?(): { most: number; open: number; busy: number; waiting: number; stuck: boolean };
  /** How a server is reached: what stands before it, and what that takes away. */
  way?(): WayFacts;
  /** The same, for what nobody waits for: where there are several connections, on those that others use least. */
  aside?(): Database;
  close(): Promise<void>;
}

/** What a database says when it refuses. `code` is the SQLSTATE; class 08 means that the connection failed. */
export class DatabaseError extends Error {
  override name = "DatabaseError";
  readonly code: string;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly where: string | undefined;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  readonly constraint: string | undefined;
  /** Where in the statement's text, counted in characters from 1. */
  readonly position: number | undefined;

  constructor(code: string, message: string, more: DatabaseErrorFields = {}) {
    super(message);
    this.code = code;
    this.detail = more.detail;
    this.hint = more.hint;
    this.where = more.where;
    this.schema = more.schema;
    this.table = more.table;
    this.column = more.column;
    this.constraint = more.constraint;
    this.position = more.position;
  }
}

export type DatabaseErrorFields = Partial<
  Pick<DatabaseError, "detail" | "hint" | "where" | "schema" | "table" | "column" | "constraint" | "position">
>;

export function closedError(): DatabaseError {
  return new DatabaseError("08003", "the database was closed");
}

const texts = new WeakMap<TemplateStringsArray, string>();

/** The statement with $1…$n. A template's strings are one object per place in the code, so each is joined once. */
export function statementText(strings: TemplateStringsArray): string {
  let text = texts.get(strings);
  if (text === undefined) {
    text = strings.reduce((before, after, number) => `${before}$${number}${after}`);
    texts.set(strings, text);
  }
  return text;
}

/**
 * Every value leaves as text and takes the type its place in the statement has. Left to themselves the drivers guess:
 * one turns "true" into false for a boolean, the other rounds a timestamp.
 */
export function parameterText(value: Scalar): string | null {
  if (value === null) return null;
  if (typeof value === "number") return Object.is(value, -0) ? "0" : String(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value !== "string") throw notScalar(value);
  if (value.includes("\0")) {
    throw new DatabaseError("22021", "a text with the character NUL cannot be stored", {
      hint: "Remove \\u0000 from the text, or store it encoded.",
    });
  }
  if (!value.isWellFormed()) {
    // Encoding would replace it silently, and what is read back would not be what was written.
    throw new DatabaseError("22021", "a text with half a surrogate pair is not valid Unicode and cannot be stored", {
      hint: "Mend the text with toWellFormed(), or store it encoded.",
    });
  }
  return value;
}

function notScalar(value: unknown): DatabaseError {
  const kind = value === undefined ? "undefined" : (Object(value).constructor?.name ?? typeof value);
  return new DatabaseError(
    "07006",
    `a value of kind ${kind} cannot be a parameter: only text, number, boolean and null`,
    {
      hint: "Pass objects and arrays as JSON text (JSON.stringify, then ::text::json), dates as toISOString(), bigints as text.",
    },
  );
}

const copy_escapes: Record<string, string> = {
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** One row in COPY's text format, with its line end. */
export function copyLine(row: readonly Scalar[], columns: number): string {
  if (row.length !== columns) {
    throw new DatabaseError("22P04", `a row of ${row.length} values was given for ${columns} columns`);
  }
  const fields = row.map((value) => {
    const text = parameterText(value);
    return text === null
      ? "\\N"
      : text.replace(/[\\\b\f\n\r\t\v]/g, (character) => copy_escapes[character] ?? character);
  });
  return `${fields.join("\t")}\n`;
}

/** Rows as pieces of COPY text, each at least `bytes` long but the last: many small writes would cost more than they carry. */
export async function* copyPieces(
  rows: CopyRows,
  columns: number,
  count: (rows: number) => void,
  bytes = 65_536,
): AsyncGenerator<string | Uint8Array> {
  let piece = "";
  let piece_rows = 0;
  for await (const row of rows) {
    if ("bytes" in row) {
      if (piece !== "") yield piece;
      count(piece_rows + row.rows);
      yield row.bytes;
      piece = "";
      piece_rows = 0;
      continue;
    }
    piece += copyLine(row, columns);
    piece_rows++;
    if (piece.length < bytes) continue;
    count(piece_rows);
    yield piece;
    piece = "";
    piece_rows = 0;
  }
  count(piece_rows);
  if (piece !== "") yield piece;
}

export function quoteName(name: string): string {
  if (name === "" || name.includes("\0")) throw new DatabaseError("42602", `"${name}" cannot be a name`);
  return `"${name.replaceAll('"', '""')}"`;
}

/** `app.tasks` or `tasks`. */
export function quoteTable(table: string): string {
  return table.split(".").map(quoteName).join(".");
}

export function copyTarget(table: string, columns: readonly string[]): string {
  return `${quoteTable(table)} (${columns.map(quoteName).join(", ")})`;
}
