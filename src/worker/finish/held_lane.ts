// The outcomes of one tenant whose rows somebody's open transaction holds. They travel apart from everybody else's, with longer and
// longer pauses while they cannot be stored, and for a while after they could: a tenant that held once may well hold again. What becomes
// too much is forgotten, and those tasks run again.
import { setTimeout as sleep } from "node:timers/promises";
import { FinishBatch } from "./finish_batch.js";

const SHORTEST_MS = 100;
const LONGEST_MS = 8_000;
/** So long after the last trouble its outcomes still travel apart. */
const PROBATION_MS = 30_000;
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_TASKS = 5_000;
const BATCH_TASKS = 1_000;
const BATCH_BYTES = 2 * 1024 * 1024;

export interface HeldLaneParts {
  /** Tries once; false: the rows are held still. */
  deliver(batch: FinishBatch): Promise<boolean>;
  /** There is no more room for these, or no more time. */
  drop(batch: FinishBatch): void;
  /** The worker's lease is over. */
  ended: AbortSignal;
}

export class HeldLane {
  private readonly waiting: FinishBatch[] = [];
  private readonly closing = new AbortController();
  private pause = new AbortController();
  /** Since when everything has been taken; null: the rows are held. */
  private good_since: number | null = null;
  private rest_ms = SHORTEST_MS;
  /** Resolves when nothing of it has to travel apart any more. */
  readonly over: Promise<void>;

  constructor(
    private readonly parts: HeldLaneParts,
    first: FinishBatch,
  ) {
    this.waiting.push(first);
    this.over = this.run();
  }

  /** Where the next outcome goes. */
  batch(bytes: number): FinishBatch {
    if (this.good_since !== null) this.pause.abort();
    const last = this.waiting.at(-1);
    if (last !== undefined && last.size < BATCH_TASKS && last.bytes + bytes <= BATCH_BYTES) return last;
    const next = new FinishBatch();
    this.add(next);
    return next;
  }

  add(batch: FinishBatch): void {
    this.waiting.push(batch);
    for (let tasks = 0, bytes = 0, at = this.waiting.length - 1; at >= 0; at--) {
      tasks += this.waiting[at]!.size;
      bytes += this.waiting[at]!.bytes;
      if (at === this.waiting.length - 1 || (tasks <= MOST_TASKS && bytes <= MOST_BYTES)) continue;
      for (const old of this.waiting.splice(0, at + 1)) this.parts.drop(old);
      return;
    }
  }

  get tasks(): number {
    return this.waiting.reduce((sum, { size }) => sum + size, 0);
  }

  /** One last try for everything: the worker leaves. */
  close(): void {
    this.closing.abort();
    this.pause.abort();
  }

  private async run(): Promise<void> {
    await this.rest(this.rest_ms);
    while (!this.parts.ended.aborted) {
      const batch = this.waiting.shift();
      if (batch === undefined) {
        const left_ms = (this.good_since ?? 0) + PROBATION_MS - performance.now();
        if (left_ms <= 0 || this.closing.signal.aborted) return;
        await this.rest(left_ms);
      } else if (batch.size === 0 || (await this.parts.deliver(batch))) {
        this.good_since ??= performance.now();
        this.rest_ms = SHORTEST_MS;
      } else if (this.closing.signal.aborted) this.parts.drop(batch);
      else {
        this.good_since = null;
        this.waiting.unshift(batch);
        await this.rest(this.rest_ms);
        this.rest_ms = Math.min(2 * this.rest_ms, LONGEST_MS);
      }
    }
    for (const batch of this.waiting.splice(0)) this.parts.drop(batch);
  }

  private async rest(ms: number): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.pause = new AbortController();
    const signal = AbortSignal.any([this.pause.signal, this.parts.ended]);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  }
}
