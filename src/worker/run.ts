// Runs tasks: a slot takes a task, its parameters are checked, its handler runs, and what came of it goes to the finisher.
// A handler that answers at once costs no promise, and no task has a timer of its own: one sweep looks after all slots.
import { context } from "@opentelemetry/api";
import type { Logger } from "pino";
import type { Handler } from "../core/declare.js";
import { classify, Transient } from "../core/errors.js";
import { type Failure, max_message_bytes, readProperty, storableText } from "../core/failures.js";
import { invoke } from "../core/invoke.js";
import type { Retry } from "../core/retry.js";
import { traceIdOf } from "../core/traceparent.js";
import type { FailedItem } from "../engine/commands.js";
import { isConnectionLost, type ToldFailure, toldFailure } from "../engine/lost_connection.js";
import { recordPace } from "./batch.js";
import { type AbortKind, type Desk, TaskContext, TimeoutError } from "./context.js";
import type { Finisher } from "./finish.js";
import type { DoneExtra } from "./finish_batch.js";
import type { WritingFinisher } from "./finish_writes.js";
import type { HeldClaim, Holdings } from "./held.js";
import { ChildFailure, isProcessEnd, withEnd } from "./isolation/crash.js";
import type { MemoryBudget } from "./memory.js";
import { type Done, outcomeOf, type Spill } from "./outcome.js";
import type { Stats } from "./stats.js";
import { AttemptTrace } from "./tracing.js";
import { Moment } from "./wait.js";

/** Handlers that answer at once must still let the heartbeat and the network have their turn. */
const TURN_MS = 10;
const DEFAULT_TIMEOUT_S = 1800;
/** A process is killed at the end of the grace, and gone soon after; if not even that helps, its slot is freed. */
const KILL_PATIENCE_MS = 3000;

export interface RunnerParts {
  slots: number;
  abort_grace_ms: number;
  handlers: ReadonlyMap<string, Handler>;
  holdings: Holdings;
  finisher: Finisher;
  memory: MemoryBudget;
  writing_finisher: Pick<WritingFinisher, "finish">;
  desk: Desk;
  spill: Spill;
  /** How failed tasks are tried again where neither their submit nor stage nor handler says so. */
  retry?: Retry | undefined;
  stats: Stats;
  log: Logger;
  /** Plans a stage (a claim of ordinal -1) and tells the database itself; rejects when the planning failed. */
  plan(ctx: TaskContext): Promise<void>;
  /** Runs an isolated handler in a process of its own; resolves with what outcomeOf made of its result there. */
  isolated(ctx: TaskContext, handler: Handler): Promise<Outcome>;
  /** Something started or ended: there may be room for more. */
  onRoom(): void;
  /** A process has let go of its memory. */
  onMemory(): void;
}

type Outcome = string | Done | ToldFailure;

/** An outcome that needs no further reading. */
class Settled {
  constructor(readonly outcome: Outcome) {}
}

export class Runner {
  readonly running = new Set<TaskContext>();
  readonly empty = new Moment(() => this.running.size === 0);
  last_start_at = performance.now();
  private turn_ends_at = 0;
  private pumping = false;
  private closed = false;

  constructor(private readonly parts: RunnerParts) {}

  /** Starts tasks while there are slots; called whenever a task arrives or ends, or its result has been stored. */
  readonly pump = (): void => {
    if (this.pumping || this.closed) return;
    const { holdings, slots, finisher } = this.parts;
    this.pumping = true;
    while (this.running.size < slots && !finisher.full) {
      const claim = holdings.first(this.mayStart);
      if (claim === undefined) break;
      const now = performance.now();
      if (this.turn_ends_at === 0) {
        this.turn_ends_at = now + TURN_MS;
        setImmediate(this.nextTurn);
      } else if (now > this.turn_ends_at) break;
      this.start(claim, now);
    }
    this.pumping = false;
    this.parts.onRoom();
  };

  private readonly nextTurn = (): void => {
    this.turn_ends_at = 0;
    this.pump();
  };

  /** Whoever has to wait for memory is passed by. */
  private readonly mayStart = (claim: HeldClaim): boolean =>
    claim.memory_mb === 0 || this.parts.memory.mayStart(claim.stage.task_type, performance.now());

  private start(claim: HeldClaim, now: number): void {
    const { parts } = this;
    const ctx = new TaskContext(parts.desk, claim, claim.tasks[claim.next++]!, now);
    parts.holdings.queued--;
    this.running.add(ctx);
    this.last_start_at = now;
    let returned: unknown;
    try {
      if (claim.traced) ctx.trace = new AttemptTrace(ctx);
      returned = ctx.trace === undefined ? this.work(ctx) : context.with(ctx.trace.context, this.work, this, ctx);
      // A thenable is the handler's own code: its `then` may throw as well, and that must not end the pump.
      if (isThenable(returned)) {
        this.settleLater(ctx, returned, performance.now() - now);
        return;
      }
    } catch (error) {
      this.end(ctx, performance.now() - now, undefined, error ?? new Error("threw nothing"));
      return;
    }
    this.end(ctx, performance.now() - now, returned, undefined);
  }

  private work(ctx: TaskContext): unknown {
    return ctx.ordinal < 0 ? this.parts.plan(ctx) : this.handle(ctx);
  }

  private settleLater(ctx: TaskContext, returned: PromiseLike<unknown>, busy_ms: number): void {
    (returned instanceof Promise ? returned : Promise.resolve(returned)).then(
      (value) => this.end(ctx, busy_ms, value, undefined),
      (error: unknown) => this.end(ctx, busy_ms, undefined, error ?? new Error("rejected with nothing")),
    );
  }

  private handle(ctx: TaskContext): unknown {
    const { task_type } = ctx.claim.stage;
    const handler = this.parts.handlers.get(task_type);
    if (handler === undefined) throw new Transient(`this worker has no handler "${task_type}"`, { code: "no_handler" });
    if (handler.options.isolation !== "process") return invoke(handler, ctx);
    return this.isolated(ctx, handler);
  }

  /** Its memory is held until its process has done with it, also when the task was given up before. */
  private async isolated(ctx: TaskContext, handler: Handler): Promise<Settled> {
    const { memory, isolated, onMemory } = this.parts;
    memory.take(ctx.task_type);
    try {
      return new Settled(await isolated(ctx, handler));
    } finally {
      memory.give(ctx.task_type, performance.now());
      setImmediate(onMemory);
    }
  }

  /** The handler has settled. `error` undefined: it returned `value`. */
  private end(ctx: TaskContext, busy_ms: number, value: unknown, error: unknown): void {
    // A promise of the handler's own making may call back twice.
    if (ctx.returned) return;
    ctx.returned = true;
    const { parts } = this;
    const duration_ms = performance.now() - ctx.started_at;
    recordPace(ctx.claim.pace, duration_ms, busy_ms);
    if (ctx.has_scratch) this.clean(ctx);
    if (ctx.given_up) {
      // Its process was killed then: this is only the news of it.
      if (isProcessEnd(error)) return;
      parts.stats.late++;
      parts.log.info(
        { ...facts(ctx), duration_ms },
        "a handler settled after its task was given up; its result is dropped",
      );
      return;
    }
    if (ctx.claim.lost || ctx.aborted === "lost" || ctx.aborted === "cancelled") {
      this.drop(ctx);
      this.tellZones(ctx, "failed");
      parts.log.info({ ...facts(ctx), duration_ms }, "task no longer held when it ended; its result is dropped");
    } else if (ctx.aborted === "timeout") this.fail(ctx, duration_ms, withEnd(classify(ctx.reason), error));
    else if (error === undefined) {
      if (ctx.ordinal >= 0) {
        if (typeof value === "object" && value !== null) this.tellOperator(ctx, value, "task told");
        this.finish(ctx, duration_ms, value);
        return;
      }
      this.planned(ctx, duration_ms);
    } else if (ctx.aborted === "stopping") {
      this.handBack(ctx);
      this.tellZones(ctx, "failed");
    } else {
      this.tellOperator(ctx, error);
      this.fail(ctx, duration_ms, failureOfTask(ctx, error));
    }
    this.free(ctx);
  }

  private finish(ctx: TaskContext, duration_ms: number, value: unknown): void {
    const outcome =
      value instanceof Settled ? settledOutcome(ctx, value.outcome) : outcomeOf(value, ctx, this.parts.spill);
    if (outcome instanceof Promise) {
      // The slot stays taken while the file is written: results must not pile up faster than storage takes them.
      outcome.then(
        (done) => this.finished(ctx, duration_ms, done),
        (error: unknown) => this.finished(ctx, duration_ms, failureOfSpill(classify(error))),
      );
    } else this.finished(ctx, duration_ms, outcome);
  }

  private finished(ctx: TaskContext, duration_ms: number, outcome: Outcome): void {
    // Given up while its file was being written: it was settled then, and a second time would let go of its claim too early.
    if (ctx.given_up) return;
    if (ctx.claim.lost) this.drop(ctx);
    else if (ctx.recorded !== undefined && (typeof outcome === "string" || "result" in outcome)) {
      void this.finishWithWrites(ctx, duration_ms, outcome);
      return;
    } else if (typeof outcome === "string") this.complete(ctx, duration_ms, outcome, null);
    else if ("result" in outcome) this.complete(ctx, duration_ms, outcome.result, outcome.extra);
    else this.fail(ctx, duration_ms, outcome);
    this.free(ctx);
  }

  /** The slot stays taken until the database has answered: there are few connections for it, and statements wait in memory. */
  private async finishWithWrites(ctx: TaskContext, duration_ms: number, outcome: string | Done): Promise<void> {
    const { parts } = this;
    const { claim, ordinal } = ctx;
    const { result, extra } = typeof outcome === "string" ? { result: outcome, extra: null } : outcome;
    const { statements } = ctx.recorded!;
    ctx.committing = true;
    const told = { claim, ordinal, duration_ms, result, extra, statements, timeout_s: this.timeoutOf(ctx) };
    const end = await parts.writing_finisher.finish(told);
    ctx.committing = false;
    // Given up meanwhile (the worker stops): it was settled then, and the database has decided which of the two came first.
    if (ctx.given_up) return;
    if (end === "dropped") this.drop(ctx);
    else if (end === "accepted") {
      this.completed(ctx, duration_ms);
      parts.holdings.settle(claim, 1);
      this.tellZones(ctx, "finished");
    } else if (end === "refused") {
      parts.stats.refused++;
      claim.tally.refused();
      ctx.trace?.end("lost");
      parts.holdings.settle(claim, 1);
      this.tellZones(ctx, "failed");
      parts.log.info(facts(ctx), "a late result was refused, and its writes were rolled back");
    } else this.fail(ctx, duration_ms, end.failure, end.unsure);
    this.free(ctx);
  }

  private complete(ctx: TaskContext, duration_ms: number, result: string, extra: DoneExtra | null): void {
    this.completed(ctx, duration_ms);
    this.parts.finisher.done(ctx.claim, ctx.ordinal, duration_ms, result, extra);
  }

  private completed(ctx: TaskContext, duration_ms: number): void {
    const { stats, log } = this.parts;
    stats.completed++;
    ctx.claim.tally.completed(duration_ms);
    ctx.trace?.end("completed");
    if (log.isLevelEnabled("debug")) log.debug({ ...facts(ctx), duration_ms }, "task completed");
  }

  private planned(ctx: TaskContext, duration_ms: number): void {
    const { parts } = this;
    parts.stats.planned++;
    ctx.claim.tally.completed(duration_ms);
    ctx.trace?.end("completed");
    parts.holdings.settle(ctx.claim, 1);
    parts.log.debug({ ...facts(ctx), duration_ms }, "stage planned");
  }

  /** `unsure`: it may have been finished all the same. */
  private fail(ctx: TaskContext, duration_ms: number, given: ToldFailure, unsure = false): void {
    const { parts } = this;
    const failure = (ctx.redaction?.value(given) as ToldFailure | undefined) ?? given;
    if (failure.category === "engine") ctx.trace?.end("released");
    else {
      parts.stats.failed++;
      ctx.claim.tally.failed(duration_ms, failure.category);
      ctx.trace?.end("failed", failure as Failure);
    }
    const retry = this.retryOf(ctx);
    const item: FailedItem = {
      ...{ c: ctx.claim.claim_id, o: ctx.ordinal, d: Math.round(duration_ms), ...failure },
      ...(retry === undefined ? {} : { retry }),
    };
    parts.finisher.failed(ctx.claim, item);
    // A handler that was given up may still be writing: what it leaves is found by the sweep.
    if (!ctx.given_up && !unsure) this.tellZones(ctx, "failed");
    const { category, code, message } = failure;
    const words = category === "engine" ? "task handed back: the trouble is the engine's own" : "task failed";
    parts.log.warn({ ...facts(ctx), duration_ms, category, code, error: message }, words);
  }

  /** What the handler says of another attempt comes before what this worker says of all. */
  private retryOf({ ordinal, task_type }: TaskContext): Retry | undefined {
    const own = ordinal < 0 ? undefined : this.parts.handlers.get(task_type)?.options.retry;
    const { retry } = this.parts;
    return own === undefined || retry === undefined ? (own ?? retry) : { ...retry, ...own };
  }

  /** What the tenant must not read (why an address was refused) stands in this log and nowhere else. */
  private tellOperator(ctx: TaskContext, told: unknown, words = "task refused"): void {
    const operator_detail = readProperty(told, "operator_detail");
    // One that is enumerable is a field of somebody's result.
    if (typeof operator_detail !== "string" || Object.keys(told as object).includes("operator_detail")) return;
    const detail = ctx.redaction?.text(operator_detail) ?? operator_detail;
    this.parts.log.warn({ ...facts(ctx), operator_detail: storableText(detail, max_message_bytes) }, words);
  }

  /** The database gave the task to others or took it out: there is nobody to tell. */
  private drop(ctx: TaskContext): void {
    this.parts.stats.dropped++;
    ctx.trace?.end(ctx.aborted === "cancelled" ? "cancelled" : "lost");
    this.parts.holdings.settle(ctx.claim, 1);
  }

  private tellZones(ctx: TaskContext, how: "finished" | "failed"): void {
    ctx.tellZones(how)?.catch((error: unknown) => {
      this.parts.log.warn({ ...facts(ctx), err: error, how }, "files in zones were left to the sweep");
    });
  }

  private handBack(ctx: TaskContext): void {
    const { claim, ordinal } = ctx;
    ctx.trace?.end("released");
    void this.parts.finisher.release([{ c: claim.claim_id, o: [ordinal], started: [ordinal] }]);
  }

  private free(ctx: TaskContext): void {
    this.running.delete(ctx);
    if (this.closed) this.empty.look();
    else this.pump();
  }

  private clean(ctx: TaskContext): void {
    ctx.removeScratch().catch((error: unknown) => {
      this.parts.log.warn({ ...facts(ctx), err: error }, "scratch directory not removed");
    });
  }

  abort(ctx: TaskContext, kind: AbortKind, reason: Error): void {
    ctx.abort(kind, reason, performance.now());
  }

  abortAll(kind: AbortKind, reason: Error): void {
    for (const ctx of this.running) this.abort(ctx, kind, reason);
  }

  /** Looks after all slots at once: time-outs, and handlers that were asked to stop and did not. */
  sweep(now: number): void {
    const { parts } = this;
    for (const ctx of this.running) {
      if (ctx.aborted === null) {
        // Its handler was in time: how long storage takes is not its fault, and trying again would not be quicker.
        if (ctx.returned || ctx.storing) continue;
        const timeout_s = this.timeoutOf(ctx);
        if (now - ctx.timed_from < timeout_s * 1000) continue;
        parts.stats.timed_out++;
        ctx.abort("timeout", new TimeoutError(timeout_s), now);
      } else {
        const patience_ms = ctx.kill === undefined ? 0 : KILL_PATIENCE_MS;
        if (now - ctx.aborted_at >= parts.abort_grace_ms + patience_ms) this.giveUp(ctx, now);
      }
    }
  }

  /** How long the task that started last has run, of those that still do. */
  youngest(now: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (const ctx of this.running) least = Math.min(least, now - ctx.started_at);
    return least;
  }

  timeoutOf({ claim: { stage } }: TaskContext): number {
    const own = this.parts.handlers.get(stage.task_type)?.options.timeout_s;
    // The stage of lone tasks was declared by nobody: its time-out is only a default.
    const declared = stage.job_id === null ? (own ?? stage.timeout_s) : (stage.timeout_s ?? own);
    return declared ?? DEFAULT_TIMEOUT_S;
  }

  /** The handler does not stop: its slot goes to another task, and whatever it still returns is dropped. */
  giveUp(ctx: TaskContext, now: number): void {
    const { parts } = this;
    const duration_ms = now - ctx.started_at;
    ctx.given_up = true;
    ctx.kill?.();
    parts.log.warn(
      { ...facts(ctx), duration_ms, aborted: ctx.aborted },
      "a handler ignored ctx.signal and was given up",
    );
    if (ctx.aborted === "timeout" && !ctx.claim.lost) this.fail(ctx, duration_ms, classify(ctx.reason));
    else if (ctx.aborted === "stopping" && !ctx.claim.lost) this.handBack(ctx);
    else this.drop(ctx);
    this.free(ctx);
  }

  /** No further task starts here. */
  close(): void {
    this.closed = true;
  }
}

/** Of a result that its process could not store. */
function settledOutcome(ctx: TaskContext, outcome: Outcome): Outcome {
  return ctx.storing && typeof outcome !== "string" && "category" in outcome ? failureOfSpill(outcome) : outcome;
}

/** A connection of ours that was lost is no failure of the task. */
function failureOfTask(ctx: TaskContext, error: unknown): ToldFailure {
  if (!(error instanceof ChildFailure)) return toldFailure(error);
  const { failure } = error;
  const is_ours = ctx.lost_connection && isConnectionLost({ code: failure.detail?.sqlstate });
  return is_ours ? { ...failure, category: "engine" } : failure;
}

/** The handler has done its part: where its result goes is ours. */
function failureOfSpill(failure: ToldFailure): ToldFailure {
  return failure.category === "transient" ? { ...failure, category: "engine" } : failure;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** What every log line about a task names. */
function facts(ctx: TaskContext) {
  const { tenant_id, job_id, task_id, task_type, index, attempt } = ctx;
  return {
    tenant_id,
    job_id,
    task: task_id,
    task_type,
    index,
    attempt,
    correlation_id: ctx.claim.stage.correlation_id,
    trace_id: traceIdOf(ctx.traceparent),
  };
}
