// Waiting for a job over HTTP: the server holds the call while the job runs, or says when to ask again. A service that is
// away for a while is waited for as well.

import type { ReplyOf } from "../core/api/endpoint.js";
import { jobs_api } from "../core/api/jobs.js";
import { FanfoldError, isFanfoldError } from "../core/errors/errors.js";
import { isTerminal } from "../core/shown/statuses.js";
import { pause } from "./abort.js";
import { retryAfter } from "./retries.js";
import type { Transport } from "./transport.js";

export type JobRecord = ReplyOf<typeof jobs_api.status>;

export interface WaitOptions {
  signal?: AbortSignal;
  /** After so long it rejects with StillRunning; the job goes on. Default: it waits as long as it takes. */
  timeout_ms?: number;
  /** Called with every status that is read, about once in two seconds. */
  on_status?: (job: JobRecord) => void;
  /** How long the service may be away before that is an error. Default: 60,000. */
  patience_ms?: number;
}

/** The time to wait is over, and the job is not. */
export class StillRunning extends FanfoldError {
  override readonly code = "still_running";
  /** As it was last seen; null: it was not. */
  readonly job: JobRecord | null;

  constructor(job_id: string, timeout_ms: number, job: JobRecord | null) {
    super("unavailable", `job ${job_id.slice(0, 12)} has not ended within ${timeout_ms / 1000} s`, {
      hint: "it goes on; wait again, or look at it with status or why",
    });
    this.job = job;
  }
}

/** Longer than the server holds a call. */
const held_ms = 40_000;

export async function waitForJob(transport: Transport, job_id: string, options: WaitOptions): Promise<JobRecord> {
  const { signal, timeout_ms, on_status, patience_ms = 60_000 } = options;
  const ends_at = timeout_ms === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeout_ms;
  const left = () => Math.max(0, ends_at - performance.now());
  let job: JobRecord | null = null;
  let away_since: number | null = null;
  for (;;) {
    const began = performance.now();
    let again_ms = 1_000;
    try {
      const answer = await withinTime(left(), signal, (within) =>
        transport.answer(jobs_api.status, {
          params: { job_id },
          // A caller who wants to see progress asks; others are answered when there is something to tell.
          query: on_status === undefined ? { wait: "true" } : { status_code: "true" },
          signal: within,
          timeout_ms: held_ms,
        }),
      );
      if (answer === null) throw new StillRunning(job_id, timeout_ms as number, job);
      job = answer.body;
      away_since = null;
      on_status?.(job);
      if (isTerminal(job.status)) return job;
      again_ms = (retryAfter(answer.headers) ?? 1) * 1_000;
    } catch (error) {
      if (!isPassing(error)) throw error;
      away_since ??= began;
      if (performance.now() - away_since > patience_ms) throw error;
      again_ms = Math.max(again_ms, ((error as { retry_after_s?: number }).retry_after_s ?? 0) * 1_000);
    }
    // A call that was held has waited already.
    const rest_ms = Math.max(0, again_ms - (performance.now() - began));
    await pause(Math.min(rest_ms, left()), signal);
    if (left() === 0) throw new StillRunning(job_id, timeout_ms as number, job);
  }
}

/** Trouble on the way, that says nothing about the job. */
export function isPassing(error: unknown): boolean {
  if (!isFanfoldError(error) || error instanceof StillRunning) return false;
  return error.http_status === 429 || (error.http_status >= 502 && error.http_status <= 504);
}

/** null when the time is over first. */
async function withinTime<T>(ms: number, outer: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>) {
  const controller = new AbortController();
  const over = Symbol("over");
  const follow = () => controller.abort(outer?.reason);
  // A timer takes no more than this.
  const timer = Number.isFinite(ms) ? setTimeout(() => controller.abort(over), Math.min(ms, 2 ** 31 - 1)) : undefined;
  outer?.addEventListener("abort", follow, { once: true });
  if (outer?.aborted === true) follow();
  try {
    return await work(controller.signal);
  } catch (error) {
    if (error === over) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", follow);
  }
}
