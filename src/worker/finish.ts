// Tells the database what became of tasks, many at a time. Nothing waits while the connection is idle; while a finish is
// on its way the next ones gather. What may or may not have committed is sent again: a refusal is a fact to count, not an error.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { FailedItem, FinishReply, ReleaseItem, WorkerCommands } from "../engine/commands.js";
import type { Database } from "../engine/database.js";
import { fault } from "../fault.js";
import { type DoneExtra, FinishBatch } from "./finish_batch.js";
import type { Lease } from "./heartbeat.js";
import type { HeldClaim, Holdings } from "./held.js";
import type { TaskLogs } from "./logs.js";
import type { Stats } from "./stats.js";
import { sendTrouble, waitBeforeTry } from "./trouble.js";
import { Moment } from "./wait.js";

const BATCH_ITEMS = 1000;
const BATCH_BYTES = 4 * 1024 * 1024;

export interface FinisherParts {
  worker_id: string;
  db: Database;
  commands: WorkerCommands;
  holdings: Holdings;
  lease: Lease;
  logs: TaskLogs;
  stats: Stats;
  log: Logger;
  /** The database answered; `jobs`: some of the tasks were part of a job, so that others may have become runnable. */
  onAnswer(reply: FinishReply, jobs: boolean): void;
  /** The database no longer knows this worker. */
  onStale(): void;
  /** Nothing is left to be said. */
  onQuiet(): void;
}

export class Finisher {
  /** Tasks whose end the database has not confirmed. */
  unanswered = 0;
  private batch = new FinishBatch();
  private in_flight = 0;
  private releasing = 0;
  private ticking = false;
  private readonly quiet = new Moment(() => !this.busy);

  constructor(private readonly parts: FinisherParts) {}

  /** `result` is JSON text: a result is written once and never again. */
  done(claim: HeldClaim, ordinal: number, duration_ms: number, result: string, extra: DoneExtra | null): void {
    if (this.batch.bytes + result.length > BATCH_BYTES) this.flush();
    this.batch.addDone(claim, ordinal, duration_ms, result, extra);
    this.added();
  }

  failed(claim: HeldClaim, item: FailedItem): void {
    this.batch.addFailed(claim, item);
    this.added();
  }

  private added(): void {
    this.unanswered++;
    if (this.batch.size >= BATCH_ITEMS || this.batch.bytes >= BATCH_BYTES) this.flush();
    else if (!this.ticking && this.in_flight === 0) {
      this.ticking = true;
      setImmediate(this.tick);
    }
  }

  private readonly tick = (): void => {
    this.ticking = false;
    if (this.in_flight === 0) this.flush();
  };

  flush(): void {
    const { batch } = this;
    if (batch.size === 0) return;
    this.batch = new FinishBatch();
    this.in_flight++;
    void this.send(batch).finally(() => {
      this.in_flight--;
      if (this.in_flight === 0) this.flush();
      this.lookAround();
    });
  }

  private async send(batch: FinishBatch): Promise<void> {
    const { parts } = this;
    await fault("before-finish");
    const reply = await this.deliver(batch);
    await fault("after-finish-commit");
    // Before anyone is told: the fetcher may be waiting for just this number to fall.
    this.unanswered -= batch.size;
    let jobs = false;
    for (const [claim, count] of batch.claims()) {
      parts.holdings.settle(claim, count);
      jobs ||= claim.stage.job_id !== null;
    }
    if (reply === null) return;
    this.noteRefusals(reply);
    parts.onAnswer(reply, jobs);
  }

  /** Sends until the database has answered; null when the lease ended first and the results had to be dropped. */
  private async deliver(batch: FinishBatch): Promise<FinishReply | null> {
    const { parts } = this;
    const request = batch.request(parts.worker_id, parts.logs.take());
    for (let tries = 1; ; tries++) {
      if (parts.lease.over()) {
        parts.stats.dropped += batch.size;
        return null;
      }
      try {
        return await parts.commands.finish(parts.db, request);
      } catch (error) {
        const trouble = sendTrouble(error);
        if (trouble === "content") return await this.divide(batch, error);
        if (trouble === "stale") parts.onStale();
        parts.log.warn({ err: error, tasks: batch.size, tries }, "finish not delivered, trying again");
        await sleep(waitBeforeTry(tries), undefined, { signal: parts.lease.ended }).catch(() => {});
      }
    }
  }

  /** One outcome the database cannot take must not hold up its neighbours: halves are sent until it stands alone, and fails. */
  private async divide(batch: FinishBatch, error: unknown): Promise<FinishReply | null> {
    if (batch.size > 1) {
      const [first, second] = batch.halves();
      return sumOf(await this.deliver(first), await this.deliver(second));
    }
    const cause = error instanceof Error ? error.message : String(error);
    this.parts.log.error({ err: error }, "the database cannot store an outcome");
    const failure = batch.asStorable(cause);
    return failure === null ? null : await this.deliver(failure);
  }

  private noteRefusals({ refused, retried }: FinishReply): void {
    const { stats, log } = this.parts;
    stats.retried += retried;
    if (refused.length === 0) return;
    stats.refused += refused.length;
    log.info(
      { count: refused.length, refused: refused.slice(0, 10) },
      "late results refused: others hold these tasks now",
    );
  }

  /** Hands tasks back at no cost to them. Resolves when the database has taken them, or the lease has ended. */
  async release(items: ReleaseItem[]): Promise<void> {
    if (items.length === 0) return;
    const { parts } = this;
    this.releasing++;
    try {
      for (let tries = 1; !parts.lease.over(); tries++) {
        try {
          const { released } = await parts.commands.release(parts.db, { worker_id: parts.worker_id, items });
          parts.stats.released += released;
          break;
        } catch (error) {
          if (sendTrouble(error) === "stale") parts.onStale();
          parts.log.warn({ err: error, tries }, "hand-back not delivered, trying again");
          await sleep(waitBeforeTry(tries), undefined, { signal: parts.lease.ended }).catch(() => {});
        }
      }
      for (const { c, o } of items) {
        const claim = parts.holdings.claims.get(c);
        if (claim !== undefined) parts.holdings.settle(claim, o.length);
      }
    } finally {
      this.releasing--;
      this.lookAround();
    }
  }

  get busy(): boolean {
    return this.unanswered > 0 || this.in_flight > 0 || this.releasing > 0;
  }

  private lookAround(): void {
    if (this.busy) return;
    this.quiet.look();
    this.parts.onQuiet();
  }

  /** Resolves when the database knows everything this worker has to say. */
  async drained(): Promise<void> {
    this.flush();
    await this.quiet.reached();
  }
}

function sumOf(first: FinishReply | null, second: FinishReply | null): FinishReply | null {
  if (first === null || second === null) return first ?? second;
  return {
    accepted: first.accepted + second.accepted,
    refused: [...first.refused, ...second.refused],
    retried: first.retried + second.retried,
    advanced: first.advanced || second.advanced,
  };
}
