// Runs tasks: a slot takes a task, its parameters are checked, its handler runs, and what came of it is read into one TaskEnd,
// which is recorded once (see task_end.ts). A handler that answers at once costs no promise, and no task has a timer of its own:
// one sweep looks after all slots.
import { context } from "@opentelemetry/api";
import type { Handler } from "../../core/declare/declare.js";
import { Transient } from "../../core/errors/errors.js";
import { invoke, isThenable } from "../../core/task/invoke.js";
import { recordPace } from "../claim/batch.js";
import type { HeldClaim } from "../claim/held.js";
import type { TypeSlots } from "../claim/type_slots.js";
import type { WritingFinisher } from "../finish/finish_writes.js";
import type { Spill } from "../finish/spill.js";
import {
  endOfError,
  endOfResult,
  endOfStop,
  ProcessOutcome,
  type TaskEnd,
  TaskEnds,
  type TaskEndsParts,
  taskFacts,
} from "../finish/task_end.js";
import { Moment } from "../wait.js";
import type { StopKind } from "./attempt.js";
import { TaskContext } from "./context.js";
import { isOvertime, type OvertimeParts, timeoutOf } from "./overtime.js";
import type { TaskServices } from "./task_services.js";
import { AttemptTrace } from "./tracing.js";

/** Handlers that answer at once must still let the heartbeat and the network have their turn. */
const TURN_MS = 10;

export interface RunnerParts extends TaskEndsParts, OvertimeParts {
  slots: number;
  type_slots: TypeSlots;
  writing_finisher: Pick<WritingFinisher, "finish">;
  services: TaskServices;
  spill: Spill;
  /** Plans a stage (a claim of ordinal -1) and records it; rejects when the planning failed. */
  plan(ctx: TaskContext): Promise<void>;
  /** Runs an isolated handler in a process of its own; resolves with what outcomeOf made of its result there. */
  isolated(ctx: TaskContext, handler: Handler): Promise<ProcessOutcome["outcome"]>;
  /** Something started or ended: there may be room for more. */
  onRoom(): void;
  /** A type that has slots of its own has one again. */
  onTypeRoom(): void;
}

export class Runner {
  readonly running = new Set<TaskContext>();
  readonly empty = new Moment(() => this.running.size === 0);
  last_start_at = performance.now();
  private readonly ends: TaskEnds;
  private turn_ends_at = 0;
  /** Data plans among those that run: they take no slot. */
  private plans = 0;
  private pumping = false;
  private closed = false;

  constructor(private readonly parts: RunnerParts) {
    this.ends = new TaskEnds(parts);
  }

  /** Slots that are taken. */
  get occupied(): number {
    return this.running.size - this.plans;
  }

  /** Starts tasks while there are slots; called whenever a task arrives or ends, or its result has been stored. */
  readonly pump = (): void => {
    if (this.pumping || this.closed) return;
    const { holdings, slots, finisher } = this.parts;
    this.pumping = true;
    while (!finisher.full) {
      const claim = holdings.first(this.occupied < slots, this.mayStart);
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

  /** A task that has to wait for memory, or for others of its type, is passed by. */
  private readonly mayStart = (claim: HeldClaim): boolean =>
    this.parts.type_slots.mayStart(claim) && this.hasMemory(claim);

  private hasMemory(claim: HeldClaim): boolean {
    return claim.memory_mb === 0 || this.parts.memory.mayStart(claim.stage.task_type, performance.now());
  }

  private start(claim: HeldClaim, now: number): void {
    const { parts } = this;
    const ctx = new TaskContext(parts.services, claim, parts.holdings.start(claim, now), now);
    this.running.add(ctx);
    parts.type_slots.start(claim);
    if (claim.is_data_plan) this.plans++;
    else this.last_start_at = now;
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
      this.settled(ctx, performance.now() - now, undefined, error ?? new Error("threw nothing"));
      return;
    }
    this.settled(ctx, performance.now() - now, returned, undefined);
  }

  private work(ctx: TaskContext): unknown {
    return ctx.ordinal < 0 ? this.parts.plan(ctx) : this.handle(ctx);
  }

  private settleLater(ctx: TaskContext, returned: PromiseLike<unknown>, busy_ms: number): void {
    // Only the built-in `then` certainly calls back once.
    const promise = returned.then === Promise.prototype.then ? returned : new Promise((resolve) => resolve(returned));
    promise.then(
      (value) => this.settled(ctx, busy_ms, value, undefined),
      (error: unknown) => this.settled(ctx, busy_ms, undefined, error ?? new Error("rejected with nothing")),
    );
  }

  private handle(ctx: TaskContext): unknown {
    const { task_type } = ctx.claim.stage;
    const handler = this.parts.handlers.get(task_type);
    if (handler === undefined) throw new Transient(`this worker has no handler "${task_type}"`, { code: "no_handler" });
    if (handler.options.isolation !== "process") return invoke(handler, ctx);
    return this.parts.isolated(ctx, handler).then((outcome) => new ProcessOutcome(outcome));
  }

  /** The handler has settled. `error` undefined: it returned `value`. */
  private settled(ctx: TaskContext, busy_ms: number, value: unknown, error: unknown): void {
    const duration_ms = performance.now() - ctx.started_at;
    recordPace(ctx.claim.pace, duration_ms, busy_ms);
    if (ctx.has_scratch) this.clean(ctx);
    if (ctx.phase === "given_up") {
      this.ends.late(ctx, error, duration_ms);
      return;
    }
    const end = this.endOf(ctx, value, error);
    if (end instanceof Promise) {
      // The slot stays taken while the file is written: results must not pile up faster than storage takes them.
      ctx.enter("storing");
      void end.then((stored) => this.finish(ctx, stored, duration_ms));
    } else this.finish(ctx, end, duration_ms);
  }

  private endOf(ctx: TaskContext, value: unknown, error: unknown): TaskEnd | Promise<TaskEnd> {
    const stopped = endOfStop(ctx, error);
    // What was returned while the worker stops is as good as ever.
    if (stopped !== null && (error !== undefined || stopped.how !== "handed_back")) return stopped;
    if (error !== undefined) {
      this.ends.showOperator(ctx, error, "task refused");
      return endOfError(ctx, error);
    }
    if (ctx.ordinal < 0) return { how: "planned" };
    if (typeof value === "object" && value !== null)
      this.ends.showOperator(ctx, value, "task completed with a detail for the operator");
    return endOfResult(ctx, value, this.parts.spill);
  }

  private finish(ctx: TaskContext, end: TaskEnd, duration_ms: number): void {
    // It may have been lost while its file was being written.
    if (ctx.is_lost) this.settle(ctx, { how: "lost" }, duration_ms);
    else if (end.how === "completed" && ctx.recorded !== undefined) {
      // The slot stays taken until the database has answered: there are few connections, and statements wait in memory.
      if (!ctx.enter("committing")) return;
      const { claim, ordinal } = ctx;
      const { statements } = ctx.recorded;
      const timeout_s = timeoutOf(ctx, this.parts.handlers);
      const writing = { claim, ordinal, duration_ms, result: end.result, extra: end.extra, statements, timeout_s };
      void this.parts.writing_finisher.finish(writing).then((written) => this.settle(ctx, written, duration_ms));
    } else this.settle(ctx, end, duration_ms);
  }

  /** One that was given up meanwhile was recorded then: a second time would let go of its claim too early. */
  private settle(ctx: TaskContext, end: TaskEnd, duration_ms: number): void {
    if (!ctx.enter("settled")) return;
    this.ends.record(ctx, end, duration_ms);
    this.free(ctx);
  }

  private free(ctx: TaskContext): void {
    this.running.delete(ctx);
    if (ctx.claim.is_data_plan) this.plans--;
    this.parts.holdings.end(ctx.claim);
    if (this.parts.type_slots.end(ctx.claim) && !this.closed) this.parts.onTypeRoom();
    if (this.closed) this.empty.look();
    else this.pump();
  }

  private clean(ctx: TaskContext): void {
    ctx.removeScratch().catch((error: unknown) => {
      this.parts.log.warn({ ...taskFacts(ctx), err: error }, "scratch directory not removed");
    });
  }

  abortAll(kind: StopKind, reason: Error): void {
    for (const ctx of this.running) ctx.abort(kind, reason);
  }

  sweep(now: number): void {
    for (const ctx of this.running) if (isOvertime(ctx, this.parts, now)) this.giveUp(ctx, now);
  }

  /** How long the task that started last has run, of those that still do. */
  youngest(now: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (const ctx of this.running) least = Math.min(least, now - ctx.started_at);
    return least;
  }

  /** The handler does not stop: its slot goes to another task, and whatever it still returns is dropped. */
  giveUp(ctx: TaskContext, now: number): void {
    if (!ctx.enter("given_up")) return;
    const duration_ms = now - ctx.started_at;
    ctx.kill?.();
    this.parts.log.warn(
      { ...taskFacts(ctx), duration_ms, aborted: ctx.stop?.kind },
      "a handler ignored ctx.signal and was given up",
    );
    this.ends.record(ctx, endOfStop(ctx) ?? { how: "handed_back" }, duration_ms);
    this.free(ctx);
  }

  /** No further task starts here. */
  close(): void {
    this.closed = true;
  }
}
