// What handlers log, on its way to task_logs: bounded per attempt, written in batches. Lines travel with the finish of
// their task, because after it the claim that allows them is gone; a timer sends those of tasks that run on.
import { type Redaction, withoutSecretKeys } from "../core/redaction.js";
import type { HeldClaim } from "./held.js";

export type LogLevel = "debug" | "info" | "warn" | "error";

export const MAX_LINES = 1000;
export const MAX_BYTES = 256 * 1024;
export const MAX_MESSAGE = 8 * 1024;
const MAX_DATA = 16 * 1024;
const PERIOD_MS = 500;
const LINES_AT_ONCE = 2000;
const BYTES_AT_ONCE = 1024 * 1024;

/** What one attempt has logged so far. */
export class LogBudget {
  lines = 0;
  bytes = 0;
}

interface Line {
  claim: HeldClaim;
  ordinal: number;
  at: number;
  /** The rest of the record, already JSON. */
  text: string;
}

export class TaskLogs {
  private waiting: Line[] = [];
  private waiting_bytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  /** `write` sends a JSON array of lines by itself; its failures are its own. */
  constructor(private readonly write: (lines: string) => void) {}

  add(
    claim: HeldClaim,
    ordinal: number,
    budget: LogBudget,
    level: LogLevel,
    message: string,
    data: Record<string, unknown> | undefined,
    redaction?: Redaction | undefined,
  ): void {
    if (budget.lines > MAX_LINES || budget.bytes > MAX_BYTES || this.stopped) return;
    let text = JSON.stringify(logRecord(level, message, data, redaction));
    budget.lines++;
    budget.bytes += text.length;
    if (budget.lines > MAX_LINES || budget.bytes > MAX_BYTES) {
      budget.lines = MAX_LINES + 1;
      text = `{"level":"warn","message":"truncated: an attempt may log ${MAX_LINES} lines and ${MAX_BYTES} bytes"}`;
    }
    this.waiting.push({ claim, ordinal, at: performance.now(), text });
    this.waiting_bytes += text.length;
    if (this.waiting.length >= LINES_AT_ONCE || this.waiting_bytes >= BYTES_AT_ONCE) this.send();
    else this.timer ??= setTimeout(this.send, PERIOD_MS);
  }

  /** The lines that wait, as the items of a JSON array, to go with a finish; "" when there are none. */
  take(): string {
    if (this.waiting.length === 0) return "";
    const lines = this.waiting;
    this.waiting = [];
    this.waiting_bytes = 0;
    clearTimeout(this.timer);
    this.timer = undefined;
    const now = performance.now();
    let text = "";
    for (const { claim, ordinal, at, text: rest } of lines) {
      if (claim.lost) continue;
      const head = `{"c":${claim.claim_id},"o":${ordinal},"a":${claim.attempt},"ms":${Math.round(now - at)},`;
      text += `${text === "" ? "" : ","}${head}${rest.slice(1)}`;
    }
    return text;
  }

  private readonly send = (): void => {
    const lines = this.take();
    if (lines !== "") this.write(`[${lines}]`);
  };

  stop(): void {
    this.send();
    this.stopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/** A line as it is stored: bounded, and nothing in it that JSON or Postgres cannot hold. */
export function logRecord(
  level: LogLevel,
  message: string,
  data: Record<string, unknown> | undefined,
  redaction?: Redaction | undefined,
) {
  return { level, message: bounded(message, redaction), data: storableData(data, redaction) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what Postgres cannot store
const unstorable = /\u0000|\p{Surrogate}/gu;

function storable(text: string): string {
  return text.replace(unstorable, "\ufffd");
}

function bounded(message: unknown, redaction: Redaction | undefined): string {
  const given = typeof message === "string" ? message : String(message);
  // Before it is cut: half a secret would not be found.
  const text = redaction?.text(given) ?? given;
  return storable(text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)}…`);
}

/** A quick look whether some key may sound like a secret: most lines have none, and are not walked through. */
const secret_hint = /auth|cookie|pass|secret|token|key|credential|connection/i;

/** A log line must never fail a task: data that is not JSON, or too much of it, is replaced by a word about it. */
function storableData(data: unknown, redaction: Redaction | undefined): unknown {
  if (data === undefined || data === null) return undefined;
  try {
    const text = JSON.stringify(data);
    if (text === undefined) return undefined;
    if (text.length > MAX_DATA) return { left_out: `${text.length} characters of data; the limit is ${MAX_DATA}` };
    // JSON.stringify writes what Postgres cannot store as escapes: parsed again it can be replaced, keys included.
    const is_plain = !/\\u(0000|d[89a-f])/i.test(text);
    if (is_plain && redaction === undefined && !secret_hint.test(text)) return data;
    const plain = is_plain ? text : text.replace(/\\u(0000|d[89a-f][0-9a-f]{2})/gi, "\\ufffd");
    const clean = withoutSecretKeys(JSON.parse(plain));
    return redaction?.value(clean) ?? clean;
  } catch (error) {
    return { left_out: `data that is not JSON: ${String(error)}` };
  }
}
