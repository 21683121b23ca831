// What a worker over HTTP has to tell: ends of tasks and log lines, many at a time, sent again until the service has answered
// or the lease is over.

import type { ReplyOf } from "../core/api/endpoint.js";
import { largest_result, largest_spill } from "../core/api/work/limits.js";
import { type FinishedTask, type WorkLogLine, type WorkTask, work_api } from "../core/api/work.js";
import { type FanfoldError, isFanfoldError } from "../core/errors/errors.js";
import { type Failure, failureOf } from "../core/errors/failures.js";
import type { Deliverable } from "../core/task/context.js";
import { type LogLevel, log_levels } from "../core/task/log_line.js";
import { resultToOutcome } from "../core/task/outcomes.js";
import type { Returned } from "../handler_processes.js";
import { pause } from "./abort.js";
import type { Caller } from "./call.js";
import type { RemoteContext } from "./remote_context.js";
import { spill } from "./remote_zones.js";

export type Finished = Omit<FinishedTask, "attempt" | "duration_ms"> & { attempt: number; duration_ms: number };

const MOST_TASKS = 200;
const MOST_BYTES = 4 * 1024 * 1024;
const LOG_MS = 500;
const bad_result = "bad_result";

export interface OutboxParts {
  worker_id: string;
  call: Caller;
  /** Aborted when nothing that is held may be told of any more. */
  lease_over: AbortSignal;
  /** The service refuses this worker: it must register anew. */
  onStale(): void;
  onTold(tasks: readonly Finished[], reply: Pick<ReplyOf<typeof work_api.finish>, "refused">): void;
  onTrouble(error: unknown): void;
  /** What to take with a finish, which is one call less; null: nothing. It is answered by `claimed`, or by null. */
  wanted(): ClaimWish | null;
  claimed(found: ReplyOf<typeof work_api.claim> | null): void;
}

export interface ClaimWish {
  limit: number;
  known_stages: number[];
  per_type?: Record<string, number>;
}

interface Line {
  task: WorkTask;
  at: number;
  level: LogLevel;
  message: string;
  data?: unknown;
}

interface Waiting {
  end: Finished;
  bytes: number;
  /** What is told instead when the service cannot take the end. */
  failed(failure: Failure): Finished;
}

export class Outbox {
  #waiting: Waiting[] = [];
  #lines: Line[] = [];
  #sending: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: OutboxParts) {}

  add(end: Finished, failed: Waiting["failed"]): void {
    this.#waiting.push({ end, bytes: JSON.stringify(end).length, failed });
    // Once the task has given its slot free: the finish then asks for what comes next, too.
    this.#sending ??= Promise.resolve()
      .then(() => this.#send())
      .finally(() => {
        this.#sending = null;
      });
  }

  log(line: Line): void {
    this.#lines.push(line);
    this.#timer ??= setTimeout(() => void this.#sendLines(), LOG_MS);
  }

  /** Resolves when everything was told, or cannot be. */
  async drained(): Promise<void> {
    while (this.#sending !== null) await this.#sending;
    await this.#sendLines();
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      let bytes = 0;
      let count = 0;
      for (const one of this.#waiting) {
        if (count > 0 && (count === MOST_TASKS || bytes + one.bytes > MOST_BYTES)) break;
        bytes += one.bytes;
        count++;
      }
      await this.#deliver(this.#waiting.splice(0, count), this.#takeLines());
    }
  }

  async #deliver(batch: Waiting[], logs: WorkLogLine[]): Promise<void> {
    const tasks = batch.map(({ end }) => end);
    const { worker_id, call, lease_over, onTold, onStale, onTrouble } = this.parts;
    // What is sent again asks for nothing: whether the first was answered with tasks, nobody knows.
    let claim = this.parts.wanted();
    for (let tries = 0; !lease_over.aborted; tries++) {
      try {
        const body = { tasks, logs, ...(claim === null ? {} : { claim }) };
        const repeatable = claim === null;
        const told = await call(work_api.finish, { params: { worker_id }, body, signal: lease_over, repeatable });
        onTold(tasks, told);
        if (claim !== null) this.parts.claimed(told.claim);
        return;
      } catch (error) {
        if (claim !== null) this.parts.claimed(null);
        claim = null;
        if (lease_over.aborted) return;
        onTrouble(error);
        if (isRefused(error)) {
          await this.#oneByOne(batch, logs, error);
          return;
        }
        if (isStale(error)) onStale();
        await pause(Math.min(5_000, 100 * 2 ** Math.min(tries, 6)) * (0.5 + Math.random() / 2), lease_over).catch(
          () => {},
        );
      }
    }
  }

  /** The service cannot take this body: the task that it is about fails, and no other waits behind it. */
  async #oneByOne(batch: readonly Waiting[], logs: WorkLogLine[], error: FanfoldError): Promise<void> {
    const [only] = batch;
    if (batch.length > 1 || logs.length > 0) {
      await this.#tellLines(logs);
      for (const one of batch) await this.#deliver([one], []);
    } else if (only?.end.error?.code === bad_result) {
      // Not even that can be told: the worker holds it no longer.
      this.parts.onTold([only.end], { refused: [] });
    } else if (only !== undefined) {
      const failure = failureOf(error, { category: "contract", code: bad_result });
      await this.#deliver([{ ...only, end: only.failed(failure) }], []);
    }
  }

  async #sendLines(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#tellLines(this.#takeLines());
  }

  async #tellLines(lines: WorkLogLine[]): Promise<void> {
    const { worker_id, call, lease_over, onTrouble } = this.parts;
    if (lines.length === 0 || lease_over.aborted) return;
    // A lost line is a lost line.
    await call(work_api.logs, { params: { worker_id }, body: { lines }, signal: lease_over }).catch(onTrouble);
  }

  #takeLines(): WorkLogLine[] {
    const now = performance.now();
    return this.#lines.splice(0, 2000).map(({ task, at, level, message, data }) => ({
      task_id: task.task_id,
      claim_id: task.claim_id,
      attempt: task.attempt,
      ago_ms: now - at,
      level: log_levels.includes(level) ? level : "info",
      message,
      data,
    }));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** What was sent is wrong: sent again, it is refused again. */
function isRefused(error: unknown): error is FanfoldError {
  return isFanfoldError(error) && [400, 413, 422].includes(error.http_status);
}

export function isStale(error: unknown): boolean {
  return isFanfoldError(error) && error.code === "stale_worker";
}

/** What a handler returned, as it is told: a result, or the reason why it has no result. A large one goes to storage first. */
export async function doneOf(ctx: RemoteContext, value: unknown): Promise<Finished> {
  const outcome = resultToOutcome(value);
  if (!outcome.success) return failedOf(ctx, outcome.failure);
  return doneWith(ctx, JSON.stringify(outcome.result ?? null), ctx.handed_over ?? outcome.next_stage_params);
}

/** The same, as the process of its handler has read it already. */
export async function returnedOf(ctx: RemoteContext, returned: Returned): Promise<Finished> {
  if (typeof returned === "string") return doneWith(ctx, returned, undefined);
  if (!("result" in returned)) return failedOf(ctx, returned);
  const { next_stage_params, deliverables } = returned.extra;
  if (deliverables !== undefined) ctx.delivered.push(...(JSON.parse(deliverables) as Deliverable[]));
  return doneWith(ctx, returned.result, next_stage_params === undefined ? undefined : JSON.parse(next_stage_params));
}

async function doneWith(ctx: RemoteContext, given: string, handed_over: unknown): Promise<Finished> {
  const { redaction } = ctx;
  const clean = <T>(value: T) =>
    value === undefined || redaction === undefined ? value : (redaction.value(value) as T);
  const text = redaction?.json(given) ?? given;
  const bytes = Buffer.byteLength(text);
  if (bytes > largest_spill) {
    const message = `the result has ${bytes} bytes; the limit is ${largest_spill}: put the data into storage and return a reference`;
    return failedOf(ctx, failureOf({ message }, { category: "contract", code: "result_too_large" }));
  }
  return {
    ...placeOf(ctx),
    // As it was measured: a toJSON may answer differently each time.
    ...(bytes < largest_result ? { result: JSON.parse(text) } : { spill: await spill(ctx.transfers, text) }),
    next_stage_params: clean(handed_over),
    ...(ctx.delivered.length === 0 ? {} : { deliverables: clean(ctx.delivered) }),
    ...(ctx.effects.length === 0 ? {} : { effects: ctx.effects }),
  };
}

export function failedOf(ctx: RemoteContext, failure: Failure): Finished {
  const clean = (ctx.redaction?.value(failure) as Failure | undefined) ?? failure;
  const { category, code, message, retry_after_s, detail } = clean;
  return {
    ...placeOf(ctx),
    error: { category, code, message, retry_after_s, ...(detail === undefined ? {} : { detail: { ...detail } }) },
    ...(ctx.uploaded.length === 0 ? {} : { discard: ctx.uploaded.slice(0, 100) }),
  };
}

function placeOf({ given: { task_id, claim_id, attempt }, elapsed_ms }: RemoteContext) {
  return { task_id, claim_id, attempt, duration_ms: elapsed_ms };
}
