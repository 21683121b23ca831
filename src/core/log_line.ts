// A line that a handler logs, as it is stored: bounded, and nothing in it that JSON or Postgres cannot hold. Pure.

export const log_levels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof log_levels)[number];

/** What one attempt may log. */
export const max_log_lines = 1000;
export const max_log_bytes = 256 * 1024;
export const max_log_message = 8 * 1024;
const max_data = 16 * 1024;
export const truncated_log = `truncated: an attempt may log ${max_log_lines} lines and ${max_log_bytes} bytes`;

export function logRecord(level: LogLevel, message: unknown, data: unknown) {
  return { level, message: bounded(message), data: storableData(data) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what Postgres cannot store
const unstorable = /\u0000|\p{Surrogate}/gu;

function storable(text: string): string {
  return text.replace(unstorable, "\ufffd");
}

function bounded(message: unknown): string {
  const text = typeof message === "string" ? message : String(message);
  return storable(text.length <= max_log_message ? text : `${text.slice(0, max_log_message)}…`);
}

/** A log line must never fail a task: data that is not JSON, or too much of it, is replaced by a word about it. */
function storableData(data: unknown): unknown {
  if (data === undefined || data === null) return undefined;
  try {
    const text = JSON.stringify(data);
    if (text === undefined) return undefined;
    if (text.length > max_data) return { left_out: `${text.length} characters of data; the limit is ${max_data}` };
    // JSON.stringify writes what Postgres cannot store as escapes: parsed again it can be replaced, keys included.
    if (!/\\u(0000|d[89a-f])/i.test(text)) return data;
    return JSON.parse(text.replace(/\\u(0000|d[89a-f][0-9a-f]{2})/gi, "\\ufffd"));
  } catch (error) {
    return { left_out: `data that is not JSON: ${String(error)}` };
  }
}
