// Keeps this worker's lease alive on a connection of its own, so that no busy claim or handler can delay it. The lease is
// judged by this process's monotonic clock from the moment the last answered heartbeat was sent: earlier than the database does.
import type { Logger } from "pino";
import type { HeartbeatReply, RunningItem, WorkerCommands } from "../engine/commands.js";
import type { Database } from "../engine/database.js";

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

export interface HeartbeatParts {
  worker_id: string;
  lease_s: number;
  lease: Lease;
  /** Kept for the heartbeat alone. */
  db: Database;
  /** For looking after others, which may take longer than a heartbeat may wait. */
  work_db: Database;
  commands: WorkerCommands;
  log: Logger;
  state(): { running: RunningItem[]; claims: number[] };
  onReply(reply: HeartbeatReply): void;
  onStale(): void;
}

export class Heartbeat {
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> = Promise.resolve();
  private stopped = false;
  private reap_at: number;

  constructor(private readonly parts: HeartbeatParts) {
    this.reap_at = performance.now() + this.reapPeriod() * Math.random();
    this.after(this.period);
  }

  private get period(): number {
    return (this.parts.lease_s * 1000) / 3;
  }

  private reapPeriod(): number {
    return this.period * (0.75 + Math.random() * 0.5);
  }

  private after(ms: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.beating = this.beat();
    }, ms);
  }

  private async beat(): Promise<void> {
    const { parts } = this;
    const sent_at = performance.now();
    try {
      const reply = await parts.commands.heartbeat(parts.db, { worker_id: parts.worker_id, ...parts.state() });
      if (this.stopped) return;
      if (!reply.ok) {
        parts.onStale();
        return;
      }
      parts.lease.renew(sent_at);
      parts.onReply(reply);
      this.after(Math.max(0, this.period - (performance.now() - sent_at)));
    } catch (error) {
      if (this.stopped) return;
      parts.log.warn({ err: error }, "heartbeat not delivered, trying again");
      this.after(this.period / 4);
    }
    void this.lookAfterOthers();
  }

  /** Any process may take back what dead workers hold and end jobs past their deadline; each does so at its own time. */
  private async lookAfterOthers(): Promise<void> {
    const { parts } = this;
    const now = performance.now();
    if (now < this.reap_at || this.stopped) return;
    this.reap_at = now + this.reapPeriod();
    await parts.commands.reap_workers(parts.work_db).then(
      ({ lost_workers, tasks }) => {
        if (lost_workers > 0) parts.log.warn({ lost_workers, tasks }, "took back the tasks of dead workers");
      },
      (error: unknown) => parts.log.warn({ err: error }, "dead workers not looked for"),
    );
    if (this.stopped) return;
    await parts.commands.expire_jobs(parts.work_db).then(
      ({ expired }) => {
        if (expired > 0) parts.log.warn({ expired }, "failed jobs that were past their deadline");
      },
      (error: unknown) => parts.log.warn({ err: error }, "jobs past their deadline not looked for"),
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.beating;
  }
}
