// How a registered life of a worker ends: stopped, killed or crashed by its process, or abandoned because its lease may be over.

import { removeFolder } from "../isolation/owned_files.js";
import { settlesWithin } from "../wait.js";
import type { Incarnation } from "./incarnation.js";

/** How long the last words to a database that may not answer are waited for. */
const FAREWELL_MS = 5000;

export class Leaving {
  private readonly hurry = new AbortController();
  /** Aborted when nothing is waited for any longer. */
  private readonly limit = new AbortController();
  private stopping: Promise<void> | undefined;
  private abandoned: Promise<void> | undefined;

  constructor(private readonly life: Incarnation) {}

  /** It takes nothing more. */
  get has_begun(): boolean {
    return this.stopping !== undefined;
  }

  /** Everything at once, because others may hold these tasks already: abort, forget, say nothing more. */
  abandon(why: string): void {
    if (this.abandoned !== undefined) return;
    const { life } = this;
    if (this.stopping !== undefined) {
      life.lease.end();
      this.hurry.abort();
      return;
    }
    life.shared.stats.fenced++;
    life.log.error({ why, claims: life.holdings.claims.size, running: life.runner.running.size }, "tasks abandoned");
    this.abandoned = Promise.resolve();
    this.disown(why);
    this.abandoned = this.close();
    life.shared.onAbandoned(life.worker_id);
  }

  private disown(why: string): void {
    const { life } = this;
    life.lease.end();
    life.holdings.loseAll();
    life.runner.close();
    life.runner.abortAll("lost", new DOMException(why, "AbortError"));
    void life.fetcher.stop();
  }

  /** Hands back what has not started, lets what runs run for the grace, then asks it to stop and hands it back too. */
  stop(grace_s: number): Promise<void> {
    this.stopping ??= this.abandoned ?? this.leave(grace_s * 1000);
    return this.stopping;
  }

  /** Ends now: what runs is handed back, whatever its handler does. At `limit` it ends whatever the database does. */
  async kill(limit: AbortSignal): Promise<void> {
    if (limit.aborted) this.limit.abort();
    else limit.addEventListener("abort", () => this.limit.abort(), { once: true });
    this.hurry.abort();
    await this.stop(0);
  }

  /**
   * An error that was not caught came out of what runs in this process, and one of its tasks is guilty: they are left to the
   * lease, and lost. What has not started and what runs in processes of their own is handed back.
   */
  async crash(limit: AbortSignal): Promise<void> {
    const { runner, fetcher, finisher } = this.life;
    runner.close();
    for (const ctx of [...runner.running]) {
      if (ctx.kill === undefined) continue;
      ctx.abort("stopping", new DOMException("the worker stops", "AbortError"));
      runner.giveUp(ctx, performance.now());
    }
    await settlesWithin(fetcher.stop(), FAREWELL_MS, limit);
    await settlesWithin(finisher.drained(), FAREWELL_MS, limit);
    this.disown("the worker has crashed");
    this.stopping ??= this.close();
    await settlesWithin(this.stopping, FAREWELL_MS, limit);
  }

  private async leave(grace_ms: number): Promise<void> {
    const { life } = this;
    const { runner, fetcher, finisher, lease } = life;
    const hurry = this.hurry.signal;
    const limit = this.limit.signal;
    life.log.info({ running: runner.running.size, queued: life.holdings.queued }, "worker stopping");
    runner.close();
    // The operator sees now why it takes nothing more. A worker with nothing to wait for is gone before that.
    if (grace_ms > 0 && runner.running.size > 0) life.heartbeat.hurry();
    await settlesWithin(fetcher.stop(), FAREWELL_MS, hurry);
    await settlesWithin(runner.empty.reached(), grace_ms, hurry);
    runner.abortAll("stopping", new DOMException("the worker stops", "AbortError"));
    await settlesWithin(runner.empty.reached(), Math.min(grace_ms, life.shared.settings.abort_grace_s * 1000), hurry);
    for (const ctx of runner.running) runner.giveUp(ctx, performance.now());
    life.logs.stop();
    // Without a database the lease runs out by itself; one that hangs but answers heartbeats gets as long, and no longer.
    const said = await settlesWithin(finisher.drained(), lease.lease_ms, hurry);
    if (!said) await settlesWithin(finisher.drained(), FAREWELL_MS, limit);
    await settlesWithin(life.log_writer.written(), FAREWELL_MS, limit);
    if (!lease.over()) await settlesWithin(this.farewell(), FAREWELL_MS, limit);
    this.disown("the worker has stopped");
    await this.close();
    life.log.info({}, "worker stopped");
  }

  private async farewell(): Promise<void> {
    const { life } = this;
    const { worker_id, connections } = life;
    const commands = life.shared.engine.worker_commands;
    const { counts } = life.tallies.untold();
    if (counts.length > 0) {
      await commands
        .report_counts(connections.work, { worker_id, counts })
        .catch((error: unknown) => life.log.warn({ err: error }, "the last counts were not taken"));
    }
    await commands.stop_worker(connections.work, { worker_id });
  }

  private async close(): Promise<void> {
    const { life } = this;
    life.stopSweeping();
    life.housekeeping.stop();
    life.logs.stop();
    await settlesWithin(life.heartbeat.stop(), FAREWELL_MS, this.limit.signal);
    await life.connections.close(this.limit.signal);
    await removeFolder(life.scratch_dir).catch(() => {});
  }
}
