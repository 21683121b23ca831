// What is recorded of a failed attempt, in a form every database row can hold: bounded, no NUL, no broken surrogates.
// Thrown values are hostile (getters that throw, proxies, null), so nothing here may throw. Pure.

import type { Category } from "../shown/statuses.js";
import type { Problem } from "./problems.js";

export interface FailureDetail {
  name?: string;
  stack?: string;
  status?: number;
  sqlstate?: string;
  problems?: readonly Problem[];
  process?: ProcessEnd;
}

/** How the process of an isolated handler ended, and what it did last. */
export interface ProcessEnd {
  pid: number;
  exit_code?: number;
  signal?: string;
  peak_memory_mb?: number;
  /** What it logged and wrote to stdout and stderr, the last line last. */
  last_lines?: string[];
}

export interface Failure {
  category: Category;
  code: string;
  message: string;
  retry_after_s?: number;
  detail?: FailureDetail;
}

/** What an error says about itself, before its text is added. */
export interface FailureClass {
  category: Category;
  code: string;
  retry_after_s?: number;
  status?: number;
  sqlstate?: string;
  problems?: readonly Problem[];
}

export const max_message_bytes = 4096;
export const max_stack_bytes = 8192;
/** A short word to group failures by. */
export const failure_code = /^[a-z][a-z0-9_.]{0,62}$/;
const longest_wait_s = 86_400;

export function failureOf(error: unknown, verdict: FailureClass): Failure {
  const { category, code, retry_after_s, ...detail }: FailureClass & FailureDetail = verdict;
  const name = readProperty(error, "name");
  const stack = readProperty(error, "stack");
  if (typeof name === "string") detail.name = storableText(name, 200);
  if (typeof stack === "string") detail.stack = storableText(stack, max_stack_bytes);
  const failure: Failure = { category, code, message: storableText(messageOf(error), max_message_bytes) };
  const wait = sensibleWait(retry_after_s);
  if (wait !== undefined) failure.retry_after_s = wait;
  if (Object.keys(detail).length > 0) failure.detail = detail;
  return failure;
}

/** A hostile or broken Retry-After must neither stop a task for ever nor break the insert. */
function sensibleWait(seconds: unknown): number | undefined {
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds, longest_wait_s);
}

function messageOf(error: unknown): string {
  const message = readProperty(error, "message");
  if (typeof message === "string" && message !== "") return message;
  const name = readProperty(error, "name");
  if (typeof name === "string" && name !== "") return name;
  try {
    const text = typeof error === "object" ? JSON.stringify(error) : String(error);
    return `thrown: ${text}`;
  } catch {
    return "thrown: something that cannot be shown";
  }
}

/** Text that Postgres accepts, cut at a character's edge to at most so many bytes of UTF-8. */
export function storableText(text: string, max_bytes: number): string {
  // Every UTF-16 unit takes at least one byte: what lies beyond cannot fit, and a huge text is not scanned.
  const clean = text
    .slice(0, max_bytes + 1)
    .replaceAll("\0", "\uFFFD")
    .replace(/\p{Surrogate}/gu, "\uFFFD");
  const bytes = Buffer.from(clean, "utf8");
  if (bytes.length <= max_bytes) return clean;
  let end = max_bytes - Buffer.byteLength("…");
  // Step back over the continuation bytes (10xxxxxx) of a character that would be cut in two.
  while ((bytes[end]! & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString("utf8", 0, end)}…`;
}

export function readProperty(value: unknown, key: string | symbol): unknown {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return undefined;
  try {
    return (value as Record<string | symbol, unknown>)[key];
  } catch {
    return undefined;
  }
}
