// How a task ends in a worker. TaskEnd is the closed list of ends, `rules` says what each is counted as, what its trace shows
// and what becomes of its files in zones. What a handler came to is read into one TaskEnd, and TaskEnds.record acts on it once.
import type { Handler } from "../../core/declare/declare.js";
import type { Retry } from "../../core/declare/retry.js";
import { classify } from "../../core/errors/errors.js";
import { type Failure, max_message_bytes, readProperty, storableText } from "../../core/errors/failures.js";
import { traceIdOf } from "../../core/values/traceparent.js";
import { isConnectionLost, type ToldFailure, toldFailure } from "../../engine/database/lost_connection.js";
import { ChildFailure, isProcessEnd, withEnd } from "../isolation/crash.js";
import type { Registration } from "../life/registration.js";
import type { TaskContext } from "../run/context.js";
import type { AttemptOutcome } from "../run/tracing.js";
import type { Stats } from "../stats.js";
import type { Finisher } from "./finish.js";
import type { DoneExtra } from "./finish_batch.js";
import { type Done, outcomeOf } from "./outcome.js";
import type { Spill } from "./spill.js";

/** `unsure`: a commit may still come through, so that nothing may be removed that it would make visible. */
export type TaskEnd =
  | { how: "completed"; result: string; extra: DoneExtra | null }
  | { how: "committed" | "planned" | "handed_back" | "cancelled" | "refused" }
  | { how: "lost"; unsure?: boolean }
  | { how: "failed" | "interrupted"; failure: ToldFailure; unsure?: boolean };

interface EndRule {
  counted?: keyof Stats;
  traced: AttemptOutcome;
  /** How the zones are ended. What they do not hear of is found by the sweep. */
  zones?: "finished" | "failed";
  words: string;
}

const rules: Record<TaskEnd["how"], EndRule> = {
  completed: { counted: "completed", traced: "completed", words: "task completed" },
  committed: { counted: "completed", traced: "completed", zones: "finished", words: "task completed" },
  planned: { counted: "planned", traced: "completed", words: "stage planned" },
  failed: { counted: "failed", traced: "failed", zones: "failed", words: "task failed" },
  // The trouble is the engine's own, and costs the task no attempt.
  interrupted: { traced: "released", zones: "failed", words: "task handed back: the trouble is the engine's own" },
  handed_back: { traced: "released", zones: "failed", words: "task handed back" },
  // The database gave it to another worker or took it out: it expects no word of it.
  lost: {
    counted: "dropped",
    traced: "lost",
    zones: "failed",
    words: "task no longer held when it ended; its result is dropped",
  },
  cancelled: {
    counted: "dropped",
    traced: "cancelled",
    zones: "failed",
    words: "task cancelled; its result is dropped",
  },
  refused: { counted: "refused", traced: "lost", zones: "failed", words: "late result refused, writes undone" },
};

export interface TaskEndsParts extends Registration {
  handlers: ReadonlyMap<string, Handler>;
  finisher: Finisher;
  /** How failed tasks are tried again where neither their submit nor stage nor handler says so. */
  retry?: Retry | undefined;
  /** Those that simply complete are told at level info, too. */
  log_tasks?: boolean | undefined;
}

export class TaskEnds {
  constructor(private readonly parts: TaskEndsParts) {}

  /** Called once for each task, when it has been settled or given up. */
  record(ctx: TaskContext, given: TaskEnd, duration_ms: number): void {
    const { stats, finisher, holdings } = this.parts;
    const { claim, ordinal } = ctx;
    const end = redacted(ctx, given);
    const { counted, traced, zones } = rules[end.how];
    if (counted !== undefined) stats[counted]++;
    if (traced === "completed") claim.tally.completed(duration_ms);
    else if (end.how === "failed") claim.tally.failed(duration_ms, end.failure.category);
    else if (end.how === "refused") claim.tally.refused();
    ctx.trace?.end(traced, end.how === "failed" ? (end.failure as Failure) : undefined);
    // What the database has yet to learn goes to the finisher, which settles the claim when the database has answered.
    if (end.how === "completed") finisher.done(claim, ordinal, duration_ms, end.result, end.extra);
    else if ("failure" in end) {
      const place = { c: claim.claim_id, o: ordinal, d: Math.round(duration_ms) };
      finisher.failed(claim, { ...place, ...end.failure, retry: this.retryOf(ctx) });
    } else if (end.how === "handed_back") {
      void finisher.release([{ c: claim.claim_id, o: [ordinal], started: [ordinal] }]);
    } else holdings.settle(claim, 1);
    // A handler that was given up may still be writing there.
    const may_write = ctx.phase === "given_up" || ("unsure" in end && end.unsure);
    if (zones !== undefined && !may_write) this.endZones(ctx, zones);
    this.say(ctx, end, duration_ms);
  }

  /** What the handler says of another attempt comes before what this worker says of all. */
  private retryOf({ ordinal, task_type }: TaskContext): Retry | undefined {
    const own = ordinal < 0 ? undefined : this.parts.handlers.get(task_type)?.options.retry;
    const { retry } = this.parts;
    return own === undefined || retry === undefined ? (own ?? retry) : { ...retry, ...own };
  }

  private endZones(ctx: TaskContext, how: "finished" | "failed"): void {
    ctx.endZones(how)?.catch((error: unknown) => {
      this.parts.log.warn({ ...taskFacts(ctx), err: error, how }, "files in zones were left to the sweep");
    });
  }

  private say(ctx: TaskContext, end: TaskEnd, duration_ms: number): void {
    const { log } = this.parts;
    const { traced, words } = rules[end.how];
    const { log_tasks = false } = this.parts;
    const is_quiet = (traced === "completed" && !log_tasks) || traced === "released";
    const level = "failure" in end ? "warn" : is_quiet ? "debug" : "info";
    if (!log.isLevelEnabled(level)) return;
    const { category, code, message: error } = "failure" in end ? end.failure : {};
    log[level]({ ...taskFacts(ctx), duration_ms, category, code, error }, words);
  }

  /** What the tenant must not read (why an address was refused) stands in this log and nowhere else. */
  showOperator(ctx: TaskContext, source: unknown, words: string): void {
    const operator_detail = readProperty(source, "operator_detail");
    // One that is enumerable is a field of a handler's own result.
    if (typeof operator_detail !== "string" || Object.keys(source as object).includes("operator_detail")) return;
    const detail = ctx.redaction?.text(operator_detail) ?? operator_detail;
    this.parts.log.warn({ ...taskFacts(ctx), operator_detail: storableText(detail, max_message_bytes) }, words);
  }

  /** A task that was given up has ended then; what its handler still returns is only counted. */
  late(ctx: TaskContext, error: unknown, duration_ms: number): void {
    // Its process was killed then: this is only the news of it.
    if (isProcessEnd(error)) return;
    this.parts.stats.late++;
    this.parts.log.info(
      { ...taskFacts(ctx), duration_ms },
      "a handler settled after its task was given up; its result is dropped",
    );
  }
}

/** What a process of its own has made of its handler's result: it needs no further reading. */
export class ProcessOutcome {
  constructor(readonly outcome: string | Done | ToldFailure) {}
}

/** The end of a task that was asked to stop, whatever its handler does; null when it was not. */
export function endOfStop(ctx: TaskContext, error?: unknown): TaskEnd | null {
  if (ctx.is_lost) return { how: "lost" };
  if (ctx.stop === null) return null;
  if (ctx.stop.kind === "timeout") return failed(withEnd(classify(ctx.stop.reason), error));
  return { how: ctx.stop.kind === "cancelled" ? "cancelled" : "handed_back" };
}

export function endOfError(ctx: TaskContext, error: unknown): TaskEnd {
  if (!(error instanceof ChildFailure)) return failed(toldFailure(error));
  const { failure } = error;
  const is_ours = ctx.lost_connection && isConnectionLost({ code: failure.detail?.sqlstate });
  return failed(is_ours ? { ...failure, category: "engine" } : failure);
}

/** A promise only when a file is written. */
export function endOfResult(ctx: TaskContext, value: unknown, spill: Spill): TaskEnd | Promise<TaskEnd> {
  if (value instanceof ProcessOutcome) {
    const { outcome } = value;
    const is_unstored = ctx.phase === "storing" && typeof outcome !== "string" && "category" in outcome;
    return endOfOutcome(is_unstored ? failureOfSpill(outcome) : outcome);
  }
  const outcome = outcomeOf(value, ctx, spill);
  if (!(outcome instanceof Promise)) return endOfOutcome(outcome);
  return outcome.then(endOfOutcome, (error: unknown) => failed(failureOfSpill(classify(error))));
}

function endOfOutcome(outcome: string | Done | ToldFailure): TaskEnd {
  if (typeof outcome === "string") return { how: "completed", result: outcome, extra: null };
  if ("result" in outcome) return { how: "completed", result: outcome.result, extra: outcome.extra };
  return failed(outcome);
}

export function failed(failure: ToldFailure, unsure = false): TaskEnd {
  return { how: failure.category === "engine" ? "interrupted" : "failed", failure, unsure };
}

/** The handler may have put a secret that it asked for into its error. */
function redacted({ redaction }: TaskContext, end: TaskEnd): TaskEnd {
  if (redaction === undefined || !("failure" in end)) return end;
  return { ...end, failure: redaction.value(end.failure) as ToldFailure };
}

/** The handler has done its part: where its result goes is the engine's business. */
function failureOfSpill(failure: ToldFailure): ToldFailure {
  return failure.category === "transient" ? { ...failure, category: "engine" } : failure;
}

/** What every log line about a task names. */
export function taskFacts(ctx: TaskContext) {
  const { tenant_id, job_id, task_id, task_type, index, attempt } = ctx;
  const { correlation_id, job_type } = ctx.claim.stage;
  const trace_id = traceIdOf(ctx.traceparent);
  return { tenant_id, job_id, job_type, task: task_id, task_type, index, attempt, correlation_id, trace_id };
}
