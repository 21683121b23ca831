// How queues are told in words and figures. Pure.
import type { Reply } from "../../api/call.js";

export type Queue = Reply<"queues.list">["queues"][number];
export type History = NonNullable<Queue["history"]>;

/** The planning of stages has queues too; their names are no task types. */
export function queueName(task_type: string): string {
  if (task_type === "#plan") return "Planning of stages";
  return task_type.startsWith("#plan:") ? `Planning of ${task_type.slice(6)}` : task_type;
}

export function isPlanning(task_type: string): boolean {
  return task_type.startsWith("#");
}

export interface Depth {
  /** Due now for the first time. */
  due: number;
  /** Had an attempt before, due or not. */
  retrying: number;
  /** Delayed. */
  later: number;
  running: number;
}

/** Parts that do not overlap: what retries stands among what is due and what is later. */
export function depthOf({ due, later, retrying, running }: Queue): Depth {
  const among_later = Math.min(retrying, later);
  const among_due = Math.min(retrying - among_later, due);
  return { due: due - among_due, retrying: among_due + among_later, later: later - among_later, running };
}

/** Beyond so long a wait is worth a look. */
export const LONG_WAIT_S = 600;

export function isProblem(queue: Queue, now: number): boolean {
  return queue.problem !== null || waitOf(queue, now) > LONG_WAIT_S;
}

/** Seconds that the oldest due task waits. */
export function waitOf({ oldest_at }: Queue, now: number): number {
  return oldest_at === null ? 0 : Math.max(0, (now - Date.parse(oldest_at)) / 1000);
}

/** Per minute, in few digits. */
export function rateText(per_minute: number): string {
  if (per_minute === 0) return "0";
  if (per_minute < 0.1) return "< 0.1";
  return per_minute < 10 ? per_minute.toFixed(1) : Math.round(per_minute).toLocaleString("en-US");
}

/** A line of the chart in words: for readers who do not see it, and for those who want the figures. */
export function chartText(what: string, values: readonly (number | null)[], step_s: number): string {
  const known = values.filter((value) => value !== null);
  const sum = known.reduce((all, value) => all + value, 0);
  const each = step_s === 60 ? "minute" : `${Math.round(step_s / 60)} minutes`;
  const span = spanText(values.length * step_s);
  if (known.length === 0) return `${what}: not looked at in the last ${span}`;
  const most = Math.max(...known).toLocaleString("en-US");
  const now = known.at(-1)!.toLocaleString("en-US");
  if (what === "Waiting") return `${what} over the last ${span}: at most ${most}, ${now} when last looked at`;
  return `${what} in the last ${span}: ${sum.toLocaleString("en-US")}, at most ${most} in ${step_s === 60 ? "a" : ""} ${each}`.replace(
    "  ",
    " ",
  );
}

export function spanText(s: number): string {
  const minutes = Math.round(s / 60);
  if (minutes < 120) return minutes === 60 ? "hour" : `${minutes} minutes`;
  return `${Math.round(minutes / 60)} hours`;
}

/** What was looked at, in line: a gap where nobody looked is bridged by what was seen before it. */
export function bridged(values: readonly (number | null)[]): number[] {
  let last = values.find((value) => value !== null) ?? 0;
  return values.map((value) => {
    last = value ?? last;
    return last;
  });
}

/** The last point is not over yet: it would look as if everything had stopped. Only where there is nothing before it, it is shown. */
export function overOnly(values: readonly number[]): readonly number[] {
  const over = values.slice(0, -1);
  return over.some((value) => value > 0) ? over : values;
}
