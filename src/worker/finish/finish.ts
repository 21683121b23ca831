// Reports to the database what became of tasks, many at a time. Nothing waits while the connection is idle; while a finish is
// on its way the next ones gather. What may or may not have committed is sent again: a refusal is a fact to count, not an error.
import type { FailedItem, FinishReply, ReleaseItem } from "../../engine/work/commands.js";
import { fault } from "../../fault.js";
import { HandBack } from "../claim/hand_back.js";
import type { HeldClaim } from "../claim/held.js";
import type { Registration } from "../life/registration.js";
import type { TaskLogs } from "../run/logs.js";
import { Moment } from "../wait.js";
import { Courier, type Undelivered } from "./courier.js";
import { type DoneExtra, FinishBatch } from "./finish_batch.js";
import { TroubledOutcomes } from "./troubled_outcomes.js";

const BATCH_ITEMS = 1000;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Results may come faster than the database takes them; above this nothing starts until it has answered. */
export const UNANSWERED_BYTES = 32 * 1024 * 1024;
/** What a finish waits for a lock: others at work on the same stage are through in a moment, an open transaction may never be. */
const LOCK_MS = 300;

export interface FinisherParts extends Registration {
  logs: TaskLogs;
  /** The database answered; `jobs`: some of the tasks were part of a job, so that others may have become runnable. */
  onAnswer(reply: FinishReply, jobs: boolean): void;
  /** Nothing is left to be said. */
  onQuiet(): void;
}

export class Finisher {
  /** Tasks whose end the database has not confirmed, but for those that travel apart. */
  unanswered = 0;
  private batch = new FinishBatch();
  private in_flight = 0;
  private in_flight_bytes = 0;
  private releasing = 0;
  private ticking = false;
  private readonly quiet = new Moment(() => !this.busy);
  private readonly courier: Courier;
  private readonly hand_back: HandBack;
  private readonly troubled: TroubledOutcomes;

  constructor(private readonly parts: FinisherParts) {
    this.courier = new Courier(parts);
    this.hand_back = new HandBack(parts, this.courier, LOCK_MS);
    this.troubled = new TroubledOutcomes(parts, this, this.courier);
  }

  /** `result` is JSON text: a result is written once and never again. */
  done(claim: HeldClaim, ordinal: number, duration_ms: number, result: string, extra: DoneExtra | null): void {
    const apart = this.troubled.batchFor(claim, result.length);
    if (apart === undefined && this.batch.bytes + result.length > BATCH_BYTES) this.flush();
    (apart ?? this.batch).addDone(claim, ordinal, duration_ms, result, extra);
    if (apart === undefined) this.added();
  }

  failed(claim: HeldClaim, item: FailedItem): void {
    const apart = this.troubled.batchFor(claim, 0);
    (apart ?? this.batch).addFailed(claim, item);
    if (apart === undefined) this.added();
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
    await fault("before-finish");
    const lines = this.parts.logs.take();
    const trouble = await this.deliver(batch, lines);
    if (trouble !== null) await this.troubled.take(batch, lines, trouble);
  }

  /** Null when it was answered, or dropped because the lease ended first; otherwise nothing has happened, and why. */
  async deliver(batch: FinishBatch, lines = ""): Promise<Undelivered | null> {
    const { parts } = this;
    const request = { ...batch.request(parts.worker_id, lines), lock_ms: LOCK_MS };
    const answer = await this.courier.persist("finish", batch.size, () => parts.commands.finish(parts.db, request));
    if (answer === null) this.drop(batch);
    else if (answer === "held" || "refusal" in answer) return answer;
    else {
      await fault("after-finish-commit");
      const { reply } = answer;
      // First of all: the fetcher and the slots may be waiting for just these numbers to fall.
      const jobs = this.settle(batch);
      if (reply.refused.length > 0 || reply.retried > 0) this.troubled.count(batch, reply);
      parts.onAnswer(reply, jobs);
    }
    return null;
  }

  /** Their claims are named by heartbeats no more. True when some were part of a job. */
  settle(batch: FinishBatch): boolean {
    let jobs = false;
    this.count(batch, -1);
    for (const [claim, count] of batch.claims()) {
      this.parts.holdings.settle(claim, count);
      jobs ||= claim.stage.job_id !== null;
    }
    return jobs;
  }

  drop(batch: FinishBatch): void {
    this.parts.stats.dropped += batch.size;
    this.settle(batch);
  }

  /** What is sent counts as unanswered; what travels apart does not while it waits. */
  count({ size, bytes }: FinishBatch, sign: 1 | -1): void {
    this.unanswered += sign * size;
    this.in_flight_bytes += sign * bytes;
  }

  /** Hands tasks back at no cost to them. Resolves when the database has taken or refused them, or the lease has ended. */
  async release(items: ReleaseItem[]): Promise<void> {
    if (items.length === 0) return;
    this.releasing++;
    try {
      await this.hand_back.send(items);
    } finally {
      this.releasing--;
      this.lookAround();
    }
  }

  get busy(): boolean {
    return this.unanswered > 0 || this.in_flight > 0 || this.releasing > 0 || this.troubled.waiting > 0;
  }

  lookAround(): void {
    if (this.busy) return;
    this.quiet.look();
    this.parts.onQuiet();
  }

  /** Resolves when the database knows everything this worker has to say. What is held by others is said once more and then dropped. */
  async drained(): Promise<void> {
    this.flush();
    this.troubled.close();
    await this.quiet.reached();
  }
}
