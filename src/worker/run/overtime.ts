// Tasks that take too long: they are asked to stop at their time-out, and given up when they do not.
import type { Handler } from "../../core/declare/declare.js";
import { TimeoutError } from "../../core/errors/errors.js";
import type { Stats } from "../stats.js";
import type { Attempt } from "./attempt.js";

const DEFAULT_TIMEOUT_S = 1800;
/** A process is killed at the end of the grace, and gone soon after; if not even that helps, its slot is freed. */
export const KILL_PATIENCE_MS = 3000;

export interface OvertimeParts {
  handlers: ReadonlyMap<string, Handler>;
  abort_grace_ms: number;
  stats: Stats;
}

/** True when the task was asked to stop and its grace is over; at its time-out it is asked. */
export function isOvertime(ctx: Attempt, { handlers, abort_grace_ms, stats }: OvertimeParts, now: number): boolean {
  if (ctx.stop !== null) {
    const patience_ms = ctx.kill === undefined ? 0 : KILL_PATIENCE_MS;
    return now - ctx.stop.at >= abort_grace_ms + patience_ms;
  }
  // One that is past running was in time: how long storage takes is not its fault, and trying again would not be quicker.
  const timeout_s = timeoutOf(ctx, handlers);
  if (ctx.phase !== "running" || now - ctx.timed_from < timeout_s * 1000) return false;
  stats.timed_out++;
  ctx.abort("timeout", new TimeoutError(timeout_s), now);
  return false;
}

export function timeoutOf({ claim: { stage } }: Attempt, handlers: OvertimeParts["handlers"]): number {
  const own = handlers.get(stage.task_type)?.options.timeout_s;
  // The stage of lone tasks was declared by no job: its time-out is only a default.
  const declared = stage.job_id === null ? (own ?? stage.timeout_s) : (stage.timeout_s ?? own);
  return declared ?? DEFAULT_TIMEOUT_S;
}
