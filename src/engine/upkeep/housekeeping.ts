// Every worker and every server does the janitor's duties now and then, at its own time, and submits what schedules say: never on the
// connection of a heartbeat, because they may take longer than that may wait.
import type { Logger } from "pino";
import type { Sweep } from "./janitor.js";

/** A dead worker's tasks wait for the end of its lease and for this, at most. */
const PERIOD_MS = 5000;

export class Housekeeping {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private readonly period_ms: number;

  constructor(
    private readonly janitor: { sweep(): Promise<Sweep>; stop(): void },
    private readonly log: Logger,
    lease_s: number,
    /** What is done beside it, each at its own pace: schedules, files, retention. */
    private readonly others: readonly { start(): unknown; stop(): Promise<void> }[],
  ) {
    this.period_ms = Math.min(PERIOD_MS, (lease_s * 1000) / 3);
    this.after(this.period_ms * Math.random());
    for (const other of this.others) other.start();
  }

  private after(ms: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      void this.sweep();
    }, ms);
  }

  private async sweep(): Promise<void> {
    try {
      const { lost_workers, tasks, expired_jobs } = await this.janitor.sweep();
      if (lost_workers > 0) this.log.warn({ lost_workers, tasks }, "took back the tasks of dead workers");
      if (expired_jobs > 0) this.log.warn({ expired_jobs }, "failed jobs that were past their deadline");
    } catch (error) {
      this.log.warn({ err: error }, "the janitor's round failed");
    }
    // Workers that started together do not sweep together for ever.
    this.after(this.period_ms * (0.75 + Math.random() * 0.5));
  }

  stop(): void {
    this.stopped = true;
    this.janitor.stop();
    // A round that is cut off is rolled back: what it had taken stays due.
    for (const other of this.others) void other.stop();
    clearTimeout(this.timer);
  }
}
