// Holds a call until its job has ended.
import { setTimeout as sleep } from "node:timers/promises";
import { isTerminal } from "../../core/shown/statuses.js";
import type { Engine } from "../../engine/engine.js";

/** The longest a call is held for a job's end: below the patience of usual proxies (30 s). */
export const longest_wait_ms = 25_000;

/** Looks often at first, then once a second; true: it has ended. */
export async function untilEnded(
  engine: Engine,
  job_id: string,
  signals: readonly AbortSignal[],
  most_ms = longest_wait_ms,
): Promise<boolean> {
  let left_ms = Math.min(most_ms, longest_wait_ms);
  // A pause is a second at most: the signals need not cut it short.
  const goesOn = () => left_ms > 0 && signals.every((signal) => !signal.aborted);
  for (let pause_ms = 25; ; pause_ms = Math.min(pause_ms * 1.5, 1_000)) {
    if (isTerminal((await engine.queries.jobState(job_id)).status)) return true;
    if (!goesOn()) return false;
    await sleep(Math.min(pause_ms, left_ms));
    left_ms -= pause_ms;
  }
}
