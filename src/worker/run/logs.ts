// What handlers log, on its way to task_logs: bounded per attempt, written in batches. Lines travel with the finish of
// their task, because after it the claim that allows them is gone; a timer sends those of tasks that run on.
import { type LogLevel, logRecord, max_log_bytes, max_log_lines, truncated_log } from "../../core/task/log_line.js";
import type { Redaction } from "../../core/values/redaction.js";
import type { HeldClaim } from "../claim/held.js";
import type { Registration } from "../life/registration.js";

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
    if (budget.lines > max_log_lines || budget.bytes > max_log_bytes || this.stopped) return;
    let text = JSON.stringify(logRecord(level, message, data, redaction));
    budget.lines++;
    budget.bytes += text.length;
    if (budget.lines > max_log_lines || budget.bytes > max_log_bytes) {
      budget.lines = max_log_lines + 1;
      text = JSON.stringify({ level: "warn", message: truncated_log });
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
      // Milliseconds ago: only the database's clock counts.
      const head = `{"c":${claim.claim_id},"o":${ordinal},"a":${claim.attempt},"ms":${Math.round(now - at)},`;
      text += `${text === "" ? "" : ","}${head}${rest.slice(1)}`;
    }
    return text;
  }

  readonly send = (): void => {
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

const WRITES_AT_ONCE = 4;

/** Writes the lines of tasks that run on. A database that does not answer must not fill the memory with them. */
export class LogWriter {
  private readonly writing = new Set<Promise<unknown>>();

  constructor(private readonly parts: Registration) {}

  readonly write = (lines: string): void => {
    const { db, commands, worker_id, lease, log } = this.parts;
    if (lease.over()) return;
    if (this.writing.size >= WRITES_AT_ONCE) {
      log.warn({ bytes: lines.length }, "task logs dropped: the database is slower than the handlers talk");
      return;
    }
    const write = commands
      .write_logs(db, { worker_id, lines })
      .catch((error: unknown) => log.warn({ err: error }, "task logs not written"));
    this.writing.add(write);
    void write.finally(() => this.writing.delete(write));
  };

  /** Resolves when what has been sent is written, or is not to be. */
  written(): Promise<unknown> {
    return Promise.all(this.writing);
  }
}
