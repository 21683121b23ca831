// The statements a task keeps for its finish: text and values, nothing runs. Bounded, because they wait in memory while the
// handler works. No I/O.

import { Permanent } from "../../core/errors/errors.js";
import type { RecordingSession } from "../../core/task/context.js";
import { parameterText, type Scalar, statementText } from "../../engine/database/database.js";

export const MAX_RECORDED_BYTES = 4 * 1024 * 1024;
/** A statement costs a round trip, however short it is. */
const STATEMENT_BYTES = 64;

export interface RecordedStatement {
  readonly strings: TemplateStringsArray;
  readonly values: readonly Scalar[];
  /** Said by a handler in a process of its own: it runs as such a handler may. */
  readonly is_apart?: boolean;
}

/** As it came over a channel. */
export interface SentStatement {
  strings: readonly string[];
  values: readonly Scalar[];
}

/** What came over a channel is no template any more. */
export function templateOf(strings: readonly string[]): TemplateStringsArray {
  return Object.assign([...strings], { raw: strings });
}

/**
 * What would end the transaction that the finish is part of, or change as whom the rest of it runs. A message to the database
 * holds one statement, and procedures cannot commit inside a transaction, so the first word tells.
 */
const not_for_recording =
  /^(abort|begin|commit|copy|discard|end|prepare|release|reset|rollback|savepoint|set|start)\b/i;
const blank_or_line = /(?:[\s;]+|--[^\n\r]*)*/y;
const comment_edge = /\/\*|\*\//g;

/** The text from its first word on, as Postgres finds it: comments may hold comments. */
export function fromFirstWord(text: string): string {
  let at = 0;
  for (;;) {
    blank_or_line.lastIndex = at;
    at += blank_or_line.exec(text)?.[0].length ?? 0;
    if (!text.startsWith("/*", at)) return text.slice(at);
    let depth = 0;
    comment_edge.lastIndex = at;
    do {
      const edge = comment_edge.exec(text);
      if (edge === null) return "";
      depth += edge[0] === "/*" ? 1 : -1;
    } while (depth > 0);
    at = comment_edge.lastIndex;
  }
}

export class Recorded {
  readonly statements: RecordedStatement[] = [];
  /** Recordings whose function has not returned: a handler that returns now has not awaited them. */
  open = 0;
  private bytes = 0;

  /** Calls `work` at once; what it recorded counts when it returns, and is forgotten when it throws. */
  async record<T>(
    work: (session: RecordingSession) => Promise<T>,
    keep: (statements: readonly RecordedStatement[]) => void | Promise<void>,
  ): Promise<T> {
    const mine: RecordedStatement[] = [];
    let bytes = 0;
    let is_over = false;
    const session: RecordingSession = {
      sql: async (strings, ...values) => {
        if (is_over) throw new Permanent("the recording is over: await its statements inside it");
        bytes += this.reserve(strings, values);
        mine.push({ strings, values });
        return [];
      },
    };
    this.open++;
    try {
      const value = await work(session);
      is_over = true;
      await keep(mine);
      return value;
    } catch (error) {
      this.bytes -= bytes;
      throw error;
    } finally {
      is_over = true;
      this.open--;
    }
  }

  /** What a child process has recorded: checked again here, because a child may say anything. */
  take(sent: readonly SentStatement[]): void {
    const taken = sent.map(({ strings, values }) => {
      return { strings: templateOf(strings), values: [...values], is_apart: true };
    });
    for (const { strings, values } of taken) this.reserve(strings, values);
    this.keep(taken);
  }

  readonly keep = (statements: readonly RecordedStatement[]): void => {
    for (const statement of statements) this.statements.push(statement);
  };

  private reserve(strings: TemplateStringsArray, values: readonly Scalar[]): number {
    const text = statementText(strings);
    const word = not_for_recording.exec(fromFirstWord(text))?.[0];
    if (word !== undefined) {
      const why = `"${word.toLowerCase()}" cannot be part of ctx.db(…, { with_finish: true })`;
      throw new Permanent(`${why}: the transaction is the worker's`, { code: "bad_statement" });
    }
    let bytes = STATEMENT_BYTES + Buffer.byteLength(text);
    for (const value of values) bytes += Buffer.byteLength(parameterText(value) ?? "");
    if (this.bytes + bytes > MAX_RECORDED_BYTES) {
      const limit = `a task can keep ${MAX_RECORDED_BYTES} bytes of statements and values for its finish`;
      throw new Permanent(`${limit}, and this would be ${this.bytes + bytes}: cut the work into more tasks`, {
        code: "too_many_writes",
      });
    }
    this.bytes += bytes;
    return bytes;
  }
}
