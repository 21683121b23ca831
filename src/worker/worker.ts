// A worker: runs the tasks its registry has handlers for, until it is stopped. It lives through as many registrations as
// it takes: one whose lease ran out is abandoned, and the next starts under a fresh id.

import type { Logger } from "pino";
import { environmentForHandlers, secretsFromEnvironment } from "../config.js";
import type { Engine } from "../engine/engine.js";
import { type Incarnation, startIncarnation, type WorkerShared } from "./incarnation.js";
import { type FencedModules, fence_words, fenceModules, no_fence } from "./isolation/fence.js";
import { inheritedEnv } from "./isolation/fork.js";
import { ProcessPool } from "./isolation/pool.js";
import { MemoryBudget } from "./memory.js";
import { type WorkerOptions, type WorkerSettings, workerSettings } from "./options.js";
import { Secrets } from "./secrets.js";
import { Stats } from "./stats.js";
import { waitBeforeTry } from "./trouble.js";
import { settlesWithin } from "./wait.js";

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
  /** Of the present registration. */
  readonly worker_id: string;
  /** Hands back what has not started, waits for what runs, leaves. */
  stop(): Promise<void>;
  /** Hands back everything at once, within seconds whatever the database does. Also ends a stop() that is under way. */
  kill(): Promise<void>;
  /**
   * For an error that nobody caught (uncaughtException): within seconds, hands back what has not started and leaves what
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
  let again: NodeJS.Timeout | undefined;
  let starting: Promise<void> = Promise.resolve();
  let ended = false;
  /** Those who wait for the next registration, or for there being none. */
  let waiters: (() => void)[] = [];

  const log = options.log ?? engine.log;
  warnOfTooLarge(settings, log);
  const own = secretsFromEnvironment();
  const secrets = new Secrets({ ask: settings.secrets, dir: settings.secrets_dir ?? own.dir, env: own.env });
  const fenced = await fence(engine, settings, log);
  const processes = new ProcessPool({
    fenced,
    slots: settings.slots,
    memory_mb: settings.memory_mb,
    abort_grace_ms: settings.abort_grace_s * 1000,
    node_args: settings.isolation_node_args,
    env: { ...inheritedEnv(environmentForHandlers()), ...settings.isolation_env },
    log,
    clean: (text) => secrets.known.text(text),
  });
  const memory = new MemoryBudget(settings.memory_mb, settings.memory_needs);
  const shared: WorkerShared = {
    ...{ engine, settings, stats, processes, memory, secrets, log },
    paces: new Map(),
    onAbandoned: () => restart(1),
  };

  function restart(tries: number): void {
    if (ended) return;
    again = setTimeout(() => {
      starting = startIncarnation(shared, life.worker_id).then(
        async (incarnation) => {
          life = incarnation;
          wakeWaiters();
          if (ended) await incarnation.leaving.kill(AbortSignal.timeout(KILL_MS));
        },
        (error: unknown) => {
          shared.log.warn({ err: error, tries }, "worker not registered, trying again");
          restart(tries + 1);
        },
      );
    }, waitBeforeTry(tries));
  }

  function wakeWaiters(): void {
    const woken = waiters;
    waiters = [];
    for (const wake of woken) wake();
  }

  async function leave(by: (life: Incarnation) => Promise<void>, limit?: AbortSignal): Promise<void> {
    ended = true;
    live.delete(worker);
    clearTimeout(again);
    wakeWaiters();
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
    for (;;) {
      const present = life;
      if ((await present.idle()) || ended) return;
      if (present === life) await new Promise<void>((resolve) => waiters.push(resolve));
    }
  }

  life = await startIncarnation(shared);
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

function warnOfTooLarge({ too_large, memory_mb }: WorkerSettings, log: Logger): void {
  if (Object.keys(too_large).length === 0) return;
  log.warn(
    { memory_mb, too_large },
    "handlers that declare more memory_mb than this worker may use are left to others; its memory_mb can be raised",
  );
}

/** Said once, so that whoever reads the log knows what holds on this machine. */
async function fence({ registry }: Engine, settings: WorkerSettings, log: Logger): Promise<FencedModules> {
  const { types, scratch_dir, isolation_user } = settings;
  const modules = new Set(types.flatMap((type) => registry.handlers.get(type)?.options.module ?? []));
  if (modules.size === 0) return { fence: no_fence, others: new Map() };
  const fenced = await fenceModules(isolation_user, modules, scratch_dir);
  const { kind, why } = fenced.fence;
  if (modules.size > fenced.others.size) log.info({ fence: kind, why }, fence_words[kind]);
  for (const [module, other] of fenced.others) {
    log.warn({ module, fence: other.kind, why: other.why, fix: "chmod o+rX" }, fence_words[other.kind]);
  }
  return fenced;
}
