// How far a task says it is. Pure.
import type { TaskContext } from "../../core/task/context.js";
import type { Redaction } from "../../core/values/redaction.js";

export interface Progress {
  done?: number;
  total?: number;
  share?: number;
  message?: string;
}

/** What its handler said, as it is sent: a share between 0 and 1, or counts. */
export function progressOf([made, note]: Parameters<TaskContext["progress"]>, redaction?: Redaction): Progress {
  const message = typeof made === "number" ? note : (made.message ?? note);
  const progress: Progress =
    typeof made === "number" ? { share: finite(made) } : { done: finite(made.done), total: finite(made.total) };
  if (message !== undefined) {
    const clean = redaction?.text(String(message)) ?? String(message);
    progress.message = clean.slice(0, 500).replaceAll("\u0000", "");
  }
  return progress;
}

export function sameProgress(before: Progress | null, now: Progress): boolean {
  if (before === null) return false;
  const { done, total, share, message } = before;
  return done === now.done && total === now.total && share === now.share && message === now.message;
}

function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
