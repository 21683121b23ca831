// A line that a handler logs, as it is stored: bounded, and nothing in it that JSON or Postgres cannot hold. Pure.
import { type Redaction, withoutSecretKeys } from "../values/redaction.js";

export const log_levels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof log_levels)[number];

/** What one attempt may log. */
export const max_log_lines = 1000;
export const max_log_bytes = 256 * 1024;
export const max_log_message = 8 * 1024;
const max_data = 16 * 1024;
export const truncated_log = `truncated: an attempt may log ${max_log_lines} lines and ${max_log_bytes} bytes`;

export function logRecord(level: LogLevel, message: unknown, data: unknown, redaction?: Redaction | undefined) {
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
  return storable(text.length <= max_log_message ? text : `${text.slice(0, max_log_message)}…`);
}

/** A quick look whether some key may sound like a secret: most lines have none, and are not walked through. */
const secret_hint = /auth|cookie|pass|secret|token|key|credential|connection/i;

/** A log line must never fail a task: data that is not JSON, or too much of it, is replaced by a word about it. */
function storableData(data: unknown, redaction: Redaction | undefined): unknown {
  if (data === undefined || data === null) return undefined;
  try {
    const text = JSON.stringify(data);
    if (text === undefined) return undefined;
    if (text.length > max_data) return { left_out: `${text.length} characters of data; the limit is ${max_data}` };
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
