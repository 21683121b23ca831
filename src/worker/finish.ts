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
/** Results may come faster than the database takes them; above this nothing starts until it has answered. */
export const UNANSWERED_BYTES = 32 * 1024 * 1024;
const nothing: FinishReply = { accepted: 0, refused: [], retried: 0, advanced: false };

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
  /** The database no longer knows this worker, or (`why`) answers everything but what it is told. */
  onStale(why?: string): void;
  /** What was sent has not been answered for as long as a lease lasts. */
  onSilent(what: string): void;
  /** Nothing is left to be said. */
  onQuiet(): void;
}

/** `refusal`: the error that says that the database will never take it. */
type Answer<T> = { reply: T } | { refusal: unknown };

export class Finisher {
  /** Tasks whose end the database has not confirmed. */
  unanswered = 0;
  private batch = new FinishBatch();
  private in_flight = 0;
  private in_flight_bytes = 0;
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

  /** Too much waits for the database's answer: no task should start that would add to it. */
  get full(): boolean {
    return this.unanswered_bytes >= UNANSWERED_BYTES;
  }

  get unanswered_bytes(): number {
    return this.in_flight_bytes + this.batch.bytes;
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
    this.in_flight_bytes += batch.bytes;
    void this.send(batch).finally(() => {
      this.in_flight--;
      if (this.in_flight === 0) this.flush();
      this.lookAround();
    });
  }

  private async send(batch: FinishBatch): Promise<void> {
    const { parts } = this;
    await fault("before-finish");
    const reply = await this.deliver(batch, parts.logs.take());
    await fault("after-finish-commit");
    // Before anyone is told: the fetcher and the slots may be waiting for just these numbers to fall.
    this.unanswered -= batch.size;
    this.in_flight_bytes -= batch.bytes;
    let jobs = false;
    for (const [claim, count] of batch.claims()) {
      parts.holdings.settle(claim, count);
      jobs ||= claim.stage.job_id !== null;
    }
    if (reply === null) return;
    this.noteRefusals(reply);
    if (reply.refused.length > 0 || reply.retried > 0) countAnswer(batch, reply);
    parts.onAnswer(reply, jobs);
  }

  /** Null when the lease ended first and the results had to be dropped. */
  private async deliver(batch: FinishBatch, lines: string): Promise<FinishReply | null> {
    const { parts } = this;
    const request = batch.request(parts.worker_id, lines);
    const answer = await this.persist("finish", batch.size, () => parts.commands.finish(parts.db, request));
    if (answer === null) {
      parts.stats.dropped += batch.size;
      return null;
    }
    if ("reply" in answer) return answer.reply;
    if (lines === "") return this.divide(batch, answer.refusal);
    // The lines may be what it cannot take, and must not be lost if they are not; once their tasks have ended it is too late.
    await this.writeLines(lines);
    return this.deliver(batch, "");
  }

  private async writeLines(lines: string): Promise<void> {
    const { db, commands, worker_id, log } = this.parts;
    const request = { worker_id, lines: `[${lines}]` };
    const answer = await this.persist("task logs", 0, () => commands.write_logs(db, request));
    if (answer !== null && "refusal" in answer) log.warn({ err: answer.refusal }, "task logs not written");
  }

  /** Sends until the database has answered or refused what it was sent; null when the lease ended first. */
  private async persist<T>(what: string, tasks: number, send: () => Promise<T>): Promise<Answer<T> | null> {
    const { parts } = this;
    let odd_since: number | null = null;
    for (let tries = 1; !parts.lease.over(); tries++) {
      // A connection can fall silent while heartbeats, on theirs, are answered: nobody else would ever get these tasks.
      const timer = setTimeout(() => parts.onSilent(what), parts.lease.lease_ms);
      try {
        return { reply: await send() };
      } catch (error) {
        clearTimeout(timer);
        const trouble = sendTrouble(error);
        if (trouble === "content") return { refusal: error };
        if (trouble === "stale") parts.onStale();
        parts.log.warn({ err: error, what, tasks, tries }, "not delivered, trying again");
        if (trouble === "other") {
          // Heartbeats may go on being answered, and nobody else would ever get these tasks.
          odd_since ??= performance.now();
          if (performance.now() - odd_since >= parts.lease.lease_ms) parts.onStale(`the database takes no ${what}`);
        }
        await sleep(waitBeforeTry(tries), undefined, { signal: parts.lease.ended }).catch(() => {});
      } finally {
        clearTimeout(timer);
      }
    }
    return null;
  }

  /** One outcome the database cannot take must not hold up its neighbours: halves are sent until it stands alone, and fails. */
  private async divide(batch: FinishBatch, error: unknown): Promise<FinishReply | null> {
    if (batch.size > 1) {
      const [first, second] = batch.halves();
      return sumOf(await this.deliver(first, ""), await this.deliver(second, ""));
    }
    const cause = error instanceof Error ? error.message : String(error);
    this.parts.log.error({ err: error }, "the database cannot store an outcome");
    const failure = batch.asStorable(cause);
    return failure === null ? nothing : await this.deliver(failure, "");
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

  /** Hands tasks back at no cost to them. Resolves when the database has taken or refused them, or the lease has ended. */
  async release(items: ReleaseItem[]): Promise<void> {
    if (items.length === 0) return;
    const { parts } = this;
    this.releasing++;
    try {
      const request = { worker_id: parts.worker_id, items };
      const answer = await this.persist("hand-back", 0, () => parts.commands.release(parts.db, request));
      if (answer !== null && "reply" in answer) parts.stats.released += answer.reply.released;
      // The claim is forgotten here all the same: the first heartbeat that does not name it gives it to others.
      else if (answer !== null) parts.log.error({ err: answer.refusal }, "the database refused a hand-back");
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

function countAnswer(batch: FinishBatch, { refused, retries = [] }: FinishReply): void {
  const again = new Set<string>();
  for (let at = 0; at < retries.length; at += 2) again.add(`${retries[at]}-${retries[at + 1]}`);
  for (const { holder, item } of batch.failures) {
    if (again.has(`${item.c}-${item.o}`)) holder.tally.retried(item.category);
  }
  const holders = new Map(Array.from(batch.claims().keys(), (claim) => [claim.claim_id, claim]));
  for (const [claim_id] of refused) holders.get(claim_id)?.tally.refused();
}

function sumOf(first: FinishReply | null, second: FinishReply | null): FinishReply | null {
  if (first === null || second === null) return first ?? second;
  return {
    accepted: first.accepted + second.accepted,
    refused: [...first.refused, ...second.refused],
    repeated: [...(first.repeated ?? []), ...(second.repeated ?? [])],
    retried: first.retried + second.retried,
    retries: [...(first.retries ?? []), ...(second.retries ?? [])],
    advanced: first.advanced || second.advanced,
  };
}
