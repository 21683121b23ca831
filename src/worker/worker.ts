// A worker: runs the tasks its registry has handlers for, until it is stopped. It lives through as many registrations as
// it takes: one whose lease ran out is abandoned, and the next starts under a fresh id.

import { secretsFromEnvironment } from "../config.js";
import type { Engine } from "../engine/engine.js";
import { waitBeforeTry } from "./finish/trouble.js";
import { openProcesses } from "./isolation/open_processes.js";
import { type Incarnation, startIncarnation, type WorkerShared } from "./life/incarnation.js";
import { type WorkerOptions, workerSettings } from "./options.js";
import { MemoryBudget } from "./run/memory.js";
import { Secrets } from "./run/secrets.js";
import { Stats } from "./stats.js";
import { Moment, settlesWithin } from "./wait.js";

/** For all that kill() may wait for together, with a database that does not answer. */
const KILL_MS = 3000;

export interface WorkerStats extends Stats {
  worker_id: string;
  running: number;
  queued: number;
  /** What isolated tasks may declare together, and what those that run have declared. */
  memory_mb: number;
  memory_used_mb: number;
}

export interface Worker {
  /** The id of the present registration. */
  readonly worker_id: string;
  /** Hands back what has not started, waits for what runs, leaves. */
  stop(): Promise<void>;
  /** Hands back everything at once, within seconds whatever the database does. Also ends a stop() that is under way. */
  kill(): Promise<void>;
  /**
   * For an error that was not caught (uncaughtException): within seconds, hands back what has not started and leaves what
   * runs in this process to be lost, because one of these tasks is guilty. The process should end then.
   */
  crash(error: unknown): Promise<void>;
  stats(): WorkerStats;
  /** Resolves when there is nothing to run, nothing running, and nothing left to tell the database. */
  idle(): Promise<void>;
}

const live = new Set<Worker>();

/** Crashes every worker of this process; resolves when they have said what they could. */
export async function crashWorkers(error: unknown): Promise<void> {
  await Promise.allSettled(Array.from(live, (worker) => worker.crash(error)));
}

export async function startWorker(engine: Engine, options: WorkerOptions = {}): Promise<Worker> {
  const settings = workerSettings(options, engine.registry);
  const stats = new Stats();
  let life: Incarnation;
  let begun: string | undefined;
  let again: NodeJS.Timeout | undefined;
  let starting: Promise<void> = Promise.resolve();
  let ended = false;
  /** There is a registration that lives, or there will be none. */
  const renewed = new Moment(() => ended || !life.is_over);
  const log = options.log ?? engine.log;
  const own = secretsFromEnvironment();
  const secrets = new Secrets({ ask: settings.secrets, dir: settings.secrets_dir ?? own.dir, env: own.env });
  const processes = await openProcesses(engine.registry.handlers, settings, (text) => secrets.known.text(text), log);
  const memory = new MemoryBudget(settings.memory_mb, settings.memory_needs);
  const paces = new Map();
  // One that is abandoned before it has begun, as when LISTEN takes longer than the lease, is told of by `begin`.
  const onAbandoned = (worker_id: string) => {
    if (worker_id === begun) restart(1);
  };
  const shared: WorkerShared = { engine, settings, stats, paces, processes, memory, secrets, log, onAbandoned };

  function begin(incarnation: Incarnation): void {
    life = incarnation;
    begun = incarnation.worker_id;
    renewed.look();
    if (incarnation.is_over) restart(1);
  }

  function restart(tries: number): void {
    if (ended) return;
    again = setTimeout(() => {
      starting = startIncarnation(shared, life.worker_id).then(
        async (incarnation) => {
          begin(incarnation);
          if (ended) await incarnation.leaving.kill(AbortSignal.timeout(KILL_MS));
        },
        (error: unknown) => {
          shared.log.warn({ err: error, tries }, "worker not registered, trying again");
          restart(tries + 1);
        },
      );
    }, waitBeforeTry(tries));
  }

  async function leave(by: (life: Incarnation) => Promise<void>, limit?: AbortSignal): Promise<void> {
    ended = true;
    live.delete(worker);
    clearTimeout(again);
    renewed.look();
    // A registration that is answered after the limit ends by itself.
    await settlesWithin(starting, Number.POSITIVE_INFINITY, limit);
    try {
      await by(life);
    } finally {
      await processes.close();
    }
  }

  function crash(error: unknown): Promise<void> {
    const limit = AbortSignal.timeout(KILL_MS);
    const suspects = Array.from(life.runner.running).filter((ctx) => ctx.kill === undefined);
    const running = suspects.map(({ task_id, task_type }) => ({ task: task_id, task_type }));
    log.fatal(
      { err: secrets.cleanError(error), running },
      "an error that nobody caught: the worker ends, and the tasks that ran are lost",
    );
    return leave(({ leaving }) => leaving.crash(limit), limit);
  }

  function kill(): Promise<void> {
    const limit = AbortSignal.timeout(KILL_MS);
    return leave(({ leaving }) => leaving.kill(limit), limit);
  }

  /** A registration that ends has left its tasks undone: the next one goes on with them. */
  async function idle(): Promise<void> {
    while (!(await life.idle()) && !ended) await renewed.reached();
  }

  begin(await startIncarnation(shared));
  const worker: Worker = {
    get worker_id() {
      return life.worker_id;
    },
    stop: () => leave(({ leaving }) => leaving.stop(settings.grace_s)),
    kill,
    crash,
    idle,
    stats: () => ({
      ...stats,
      worker_id: life.worker_id,
      running: life.runner.running.size,
      queued: life.holdings.queued,
      memory_mb: memory.total_mb,
      memory_used_mb: memory.used_mb,
    }),
  };
  live.add(worker);
  return worker;
}
