// Ends a task together with what it kept for its finish: its statements and app.finish of exactly this task in one transaction,
// on the connection that handlers' own bursts use and as the same role and tenant. The statements stay only if that finish
// was accepted there and then; whatever else it says, they are rolled back, and what is left to record is recorded without them.
import { setTimeout as sleep } from "node:timers/promises";
import { classify, Throttled } from "../../core/errors/errors.js";
import { type Failure, failureOf } from "../../core/errors/failures.js";
import type { Database } from "../../engine/database/database.js";
import { isConnectionLost } from "../../engine/database/lost_connection.js";
import { session_bounds } from "../../engine/database/session_bounds.js";
import type { FinishReply, WorkerCommands } from "../../engine/work/commands.js";
import { fault } from "../../fault.js";
import type { HeldClaim } from "../claim/held.js";
import { HandlerSql, releaseLocks } from "../isolation/handler_sql.js";
import type { Registration } from "../life/registration.js";
import { answered } from "./courier.js";
import { type DoneExtra, FinishBatch } from "./finish_batch.js";
import type { RecordedStatement } from "./recorded.js";
import { failed, type TaskEnd } from "./task_end.js";
import { sendTrouble, waitBeforeTry } from "./trouble.js";

export interface WritingFinisherParts extends Registration {
  /** The one that handlers' bursts use: it counts among the worker's few. */
  connection(): Promise<Database>;
  /** The one of handlers in processes of their own, for what they have kept. */
  handler_connection(): Promise<Database>;
  /** Resolves when the lines that were logged are written: once the task has ended they would be refused. */
  logsWritten(): Promise<unknown>;
  onAnswer(reply: FinishReply, jobs: boolean): void;
}

export interface WritingEnd {
  claim: HeldClaim;
  ordinal: number;
  duration_ms: number;
  /** JSON text. */
  result: string;
  extra: DoneExtra | null;
  statements: readonly RecordedStatement[];
  /** For one statement: it may wait for others in its own tables. */
  timeout_s: number;
}

/** What its finish waits for a lock, and how often: a slot must not wait for somebody's open transaction. */
const LOCK_MS = 300;
const HELD_TRIES = 3;
const HELD_S = 10;

/** What a timer and statement_timeout can be set to. */
const MOST_MS = 2 ** 31 - 1;

/** How far a try got: who is to blame when it ends here. */
type Step = "begin" | "write" | "finish" | "commit";

/** The finish was not accepted, or not for good: everything goes. */
class Undone extends Error {
  constructor(readonly reply: FinishReply) {
    super("the task was not held");
  }
}

export class WritingFinisher {
  constructor(private readonly parts: WritingFinisherParts) {}

  async finish(end: WritingEnd): Promise<TaskEnd> {
    const { parts } = this;
    await parts.logsWritten();
    /** A commit was sent and its answer lost: it may have happened. */
    let unsure = false;
    let odd_since: number | null = null;
    let held = 0;
    // A claim that is gone after a commit may be gone because of it.
    for (let tries = 1; !parts.lease.over() && (unsure || !end.claim.lost); tries++) {
      const progress: { step: Step } = { step: "begin" };
      try {
        if (unsure && (await this.isDone(end))) return { how: "committed" };
        await this.write(end, progress);
        return { how: "committed" };
      } catch (error) {
        const { step } = progress;
        if (error instanceof Undone) {
          // Ours, of a commit whose answer was lost and that came through while this try waited for its locks.
          if ((error.reply.repeated ?? []).length > 0) return { how: "committed" };
          if (await this.recordRefusal(end)) return { how: "refused" };
        } else if (isConnectionLost(error)) unsure ||= step === "commit";
        else if (step !== "write" && sendTrouble(error) === "held") {
          if (++held === HELD_TRIES) return failed(heldByOthers(error), unsure);
        } else if (step === "write" || step === "commit") {
          // A try that came through after all can be what this one stumbled over.
          const is_done = unsure ? await this.isDone(end).catch(() => null) : false;
          if (is_done === true) return { how: "committed" };
          if (is_done === false) return failed(failureOfWrites(error), unsure);
        } else if (sendTrouble(error) === "content") return failed(unstorable(error), unsure);
        else {
          odd_since ??= performance.now();
          if (sendTrouble(error) === "stale") parts.onStale();
          else if (performance.now() - odd_since >= parts.lease.lease_ms) parts.onStale("the database takes no finish");
        }
        parts.log.warn({ err: error, step, tries }, "a finish with writes was not delivered, trying again");
        await sleep(waitBeforeTry(tries), undefined, { signal: parts.lease.ended }).catch(() => {});
      }
    }
    // The lease or the claim was over before the database had answered.
    return { how: "lost", unsure: true };
  }

  private async write(end: WritingEnd, progress: { step: Step }): Promise<void> {
    const { parts } = this;
    const { lease_ms } = parts.lease;
    const is_apart = end.statements.some((statement) => statement.is_apart);
    const timeout_s = is_apart ? session_bounds.handler.statement_timeout_s : end.timeout_s;
    const timeout_ms = Math.min(timeout_s * 1000, MOST_MS - lease_ms);
    const db = await (is_apart ? parts.handler_connection() : parts.connection());
    await fault("before-writes");
    const written = db.transaction(async (tx) => {
      // As ctx.db has it: whatever the worker's own role may see, these see the task's tenant.
      const [before] = await answered(
        parts,
        "finish",
        tx.sql<{ timeout: string }>`
          select current_setting('statement_timeout') as timeout, set_config('fanfold.tenant', ${end.claim.stage.tenant_id}, true),
            set_config('fanfold.stage', ${String(end.claim.stage.stage_id)}, true),
            set_config('statement_timeout', ${String(timeout_ms)}, true)`,
      );
      progress.step = "write";
      const apart = new HandlerSql(tx, end.claim.stage.tenant_id);
      for (const { strings, values, is_apart } of end.statements) {
        const sent = is_apart ? apart.statement(strings, values) : tx.sql(strings, ...values);
        await answered(parts, "finish", sent, timeout_ms);
      }
      if (is_apart) await answered(parts, "finish", apart.end());
      await fault("after-writes");
      progress.step = "finish";
      // The worker speaks again: its own row belongs to no tenant when it serves all.
      await tx.sql`select set_config('fanfold.tenant', '', true), set_config('statement_timeout', ${before!.timeout}, true)`;
      const told = await this.told(end, tx);
      if (!told.stays) throw new Undone(told.reply);
      progress.step = "commit";
      return told.reply;
    });
    const reply = await (is_apart ? written.finally(() => releaseLocks(db)) : written);
    await fault("after-writes-commit");
    this.heard(reply, end);
  }

  /** Outside of what is tried again. */
  private heard(reply: FinishReply, { claim }: WritingEnd): void {
    setImmediate(() => this.parts.onAnswer(reply, claim.stage.job_id !== null));
  }

  /** False when the task turned out to be held after all. */
  private async recordRefusal(end: WritingEnd): Promise<boolean> {
    const { parts } = this;
    try {
      const db = await parts.connection();
      const reply = await db.transaction(async (tx) => {
        const told = await this.told(end, tx);
        // Its writes are gone: it must not be completed without them.
        if (told.stays) throw new Undone(told.reply);
        return told.reply;
      });
      this.heard(reply, end);
      return true;
    } catch (error) {
      if (!(error instanceof Undone)) parts.log.warn({ err: error }, "a refused finish was not recorded, trying again");
      return false;
    }
  }

  private async told(
    { claim, ordinal, duration_ms, result, extra }: WritingEnd,
    tx: Parameters<WorkerCommands["finish"]>[0],
  ): Promise<{ reply: FinishReply; stays: boolean }> {
    const { worker_id, commands } = this.parts;
    const batch = new FinishBatch();
    batch.addDone(claim, ordinal, duration_ms, result, extra);
    const request = { ...batch.request(worker_id, ""), lock_ms: LOCK_MS };
    const reply = await answered(this.parts, "finish", commands.finish(tx, request));
    // One that was accepted is undone where the stage was closed before. One that was not may be an earlier one of ours.
    return { reply, stays: reply.accepted === 1 && (await commands.is_finished_by(tx, this.place(claim, ordinal))) };
  }

  private async isDone({ claim, ordinal }: WritingEnd): Promise<boolean> {
    const { parts } = this;
    const db = await parts.connection();
    return answered(parts, "finish", parts.commands.is_finished_by(db, this.place(claim, ordinal)));
  }

  private place({ stage, attempt }: HeldClaim, ordinal: number) {
    return { worker_id: this.parts.worker_id, stage_id: stage.stage_id, ordinal, attempt };
  }
}

function failureOfWrites(cause: unknown): Failure {
  const why = cause instanceof Error ? cause.message : String(cause);
  return classify(new Error(`what was to be written with the finish failed: ${why}`, { cause }));
}

/** Costs no attempt; what was written is gone, and comes again with the next. */
function heldByOthers(cause: unknown): Failure {
  return classify(new Throttled(HELD_S, "an open transaction holds rows of its job", { code: "held", cause }));
}

function unstorable(cause: unknown): Failure {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the database cannot store this result: ${why}`;
  return failureOf({ message }, { category: "contract", code: "unstorable_result" });
}
