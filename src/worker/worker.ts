// A worker: runs the tasks its registry has handlers for, until it is stopped. It lives through as many registrations as
// it takes: one whose lease ran out is abandoned, and the next starts under a fresh id.
import type { Engine } from "../engine/engine.js";
import { type Incarnation, type Shop, startIncarnation } from "./incarnation.js";
import { type WorkerOptions, workerSettings } from "./options.js";
import { Stats } from "./stats.js";
import { waitBeforeTry } from "./trouble.js";

export interface WorkerStats extends Stats {
  worker_id: string;
  running: number;
  queued: number;
}

export interface Worker {
  /** Of the present registration. */
  readonly worker_id: string;
  /** Hands back what has not started, waits for what runs, leaves. */
  stop(): Promise<void>;
  /** Hands back everything at once. Also ends a stop() that is under way. */
  kill(): Promise<void>;
  stats(): WorkerStats;
  /** Resolves when there is nothing to run, nothing running, and nothing left to tell the database. */
  idle(): Promise<void>;
}

export async function startWorker(engine: Engine, options: WorkerOptions = {}): Promise<Worker> {
  const settings = workerSettings(options, engine.registry);
  const stats = new Stats();
  let life: Incarnation;
  let again: NodeJS.Timeout | undefined;
  let starting: Promise<void> = Promise.resolve();
  let ended = false;

  const shop: Shop = {
    ...{ engine, settings, stats },
    paces: new Map(),
    log: options.log ?? engine.log,
    onAbandoned: () => restart(1),
  };

  function restart(tries: number): void {
    if (ended) return;
    again = setTimeout(() => {
      starting = startIncarnation(shop).then(
        async (incarnation) => {
          life = incarnation;
          if (ended) await incarnation.kill();
        },
        (error: unknown) => {
          shop.log.warn({ err: error, tries }, "worker not registered, trying again");
          restart(tries + 1);
        },
      );
    }, waitBeforeTry(tries));
  }

  async function leave(by: (incarnation: Incarnation) => Promise<void>): Promise<void> {
    ended = true;
    clearTimeout(again);
    await starting;
    await by(life);
  }

  life = await startIncarnation(shop);
  return {
    get worker_id() {
      return life.worker_id;
    },
    stop: () => leave((incarnation) => incarnation.stop(settings.grace_s)),
    kill: () => leave((incarnation) => incarnation.kill()),
    idle: () => life.idle(),
    stats: () => ({
      ...stats,
      worker_id: life.worker_id,
      running: life.runner.running.size,
      queued: life.holdings.queued,
    }),
  };
}
