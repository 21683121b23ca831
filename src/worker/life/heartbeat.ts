// Keeps this worker's lease alive on a connection of its own, so that no busy claim or handler can delay it. The lease is
// judged by this process's monotonic clock from the moment the last answered heartbeat was sent: earlier than the database does.

import type { Database } from "../../engine/database/database.js";
import type { HeartbeatReply, WorkerState } from "../../engine/work/commands.js";
import type { Tallies } from "../stats.js";
import type { Registration } from "./registration.js";

/** Ends once and stays ended: what was held under it may be someone else's by now. */
export class Lease {
  private renewed_at: number;
  private timer: NodeJS.Timeout | undefined;
  private readonly end_of_lease = new AbortController();

  constructor(
    readonly lease_ms: number,
    sent_at: number,
    private readonly onOver: () => void,
  ) {
    this.renewed_at = sent_at;
    this.watch();
  }

  /** Asked before anything is finished; it is the clock that decides, because a blocked event loop delays timers. */
  over(now = performance.now()): boolean {
    if (this.ended.aborted) return true;
    if (now - this.renewed_at < this.lease_ms) return false;
    this.end();
    this.onOver();
    return true;
  }

  renew(sent_at: number): void {
    if (!this.over()) this.renewed_at = sent_at;
  }

  get ended(): AbortSignal {
    return this.end_of_lease.signal;
  }

  end(): void {
    clearTimeout(this.timer);
    this.end_of_lease.abort();
  }

  private watch(): void {
    const left = this.renewed_at + this.lease_ms - performance.now();
    this.timer = setTimeout(
      () => {
        if (!this.over()) this.watch();
      },
      Math.max(1, left),
    );
  }
}

export interface HeartbeatParts extends Registration {
  /** Kept for the heartbeat alone. */
  db: Database;
  tallies: Tallies;
  state(): WorkerState;
  onReply(reply: HeartbeatReply): void;
}

export class Heartbeat {
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> = Promise.resolve();
  private stopped = false;
  private waiting = false;
  private again = false;
  private sent_at = performance.now();

  constructor(private readonly parts: HeartbeatParts) {
    this.after(this.period);
  }

  private get period(): number {
    return this.parts.lease.lease_ms / 3;
  }

  private after(ms: number): void {
    if (this.stopped) return;
    this.waiting = true;
    this.timer = setTimeout(() => {
      this.waiting = false;
      this.beating = this.beat();
    }, ms);
  }

  private async beat(): Promise<void> {
    const { parts } = this;
    const sent_at = performance.now();
    this.sent_at = sent_at;
    try {
      const { counts, told } = parts.tallies.untold();
      const state = { ...parts.state(), counts: counts.length === 0 ? undefined : counts };
      const reply = await parts.commands.heartbeat(parts.db, { worker_id: parts.worker_id, ...state });
      if (reply.ok) told();
      if (this.stopped) return;
      if (!reply.ok) {
        parts.onStale();
        return;
      }
      parts.lease.renew(sent_at);
      parts.onReply(reply);
      const rest = this.again ? 0 : this.period - (performance.now() - sent_at);
      this.again = false;
      this.after(Math.max(0, rest));
    } catch (error) {
      if (this.stopped) return;
      parts.log.warn({ err: error }, "heartbeat not delivered, trying again");
      this.after(this.period / 4);
    }
  }

  /** Something was cancelled: the next heartbeat, which says what, is sent now. */
  hurry(): void {
    // The one under way may have been read before the cancel was there.
    if (!this.waiting) this.again = true;
    else if (!this.stopped) {
      clearTimeout(this.timer);
      this.after(0);
    }
  }

  /** Called now and then: sooner than the lease asks for. */
  atLeastEvery(ms: number): void {
    if (this.waiting && performance.now() - this.sent_at >= ms) this.hurry();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.beating;
  }
}
