// One registered life of a worker: a fresh id, its connections, and the loops that claim, run, finish and keep the lease.
// A worker whose lease ran out is born again under another id, so that its late words cannot be taken for the new one's. How a
// life ends stands in leaving.ts.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { notifyPayload } from "../../core/task/notify_payload.js";
import type { Engine } from "../../engine/engine.js";
import type { Housekeeping } from "../../engine/upkeep/housekeeping.js";
import type { FinishReply, HeartbeatReply, WorkerState } from "../../engine/work/commands.js";
import type { HandlerPace } from "../claim/batch.js";
import { Fetcher } from "../claim/fetch.js";
import { Holdings } from "../claim/held.js";
import { TypeSlots } from "../claim/type_slots.js";
import { Finisher } from "../finish/finish.js";
import { WritingFinisher } from "../finish/finish_writes.js";
import { taskFacts } from "../finish/task_end.js";
import type { ProcessPool } from "../isolation/pool.js";
import type { WorkerSettings } from "../options.js";
import { planStage } from "../plan/planning.js";
import { LogWriter, TaskLogs } from "../run/logs.js";
import type { MemoryBudget } from "../run/memory.js";
import { timeoutOf } from "../run/overtime.js";
import { Runner } from "../run/run.js";
import type { Secrets } from "../run/secrets.js";
import { openTaskServices } from "../run/task_services.js";
import { type Stats, Tallies } from "../stats.js";
import { Moment, settlesWithin } from "../wait.js";
import { Connections } from "./connections.js";
import { Heartbeat, Lease } from "./heartbeat.js";
import { Leaving } from "./leaving.js";
import type { Registration } from "./registration.js";
import { openHousekeeping } from "./worker_housekeeping.js";

const SWEEP_MS = 100;
/** The hint that something running was cancelled: the heartbeat's answer says what. */
const CANCELLED = "#cancelled";
/** How often a worker asks that hears no hints, while anything runs. */
const DEAF_BEAT_MS = 2000;

/** What outlives a registration. */
export interface WorkerShared {
  engine: Engine;
  settings: WorkerSettings;
  stats: Stats;
  paces: Map<string, HandlerPace>;
  processes: ProcessPool;
  memory: MemoryBudget;
  secrets: Secrets;
  log: Logger;
  /** The lease is over or the worker unknown: another incarnation is needed. */
  onAbandoned(worker_id: string): void;
}

/** `former`: the life before, which gave up everything. What it may still hold goes back at no cost, because no process died. */
export async function startIncarnation(shared: WorkerShared, former: string | null = null): Promise<Incarnation> {
  const { engine, settings } = shared;
  const worker_id = randomUUID();
  const connections = new Connections(engine, settings);
  try {
    const { types, slots, lease_s, version } = settings;
    if (former !== null) {
      // It may be unknown by now, which is as good.
      await engine.worker_commands.stop_worker(connections.heartbeat, { worker_id: former }).catch(() => {});
    }
    const sent_at = performance.now();
    const registration = {
      worker_id,
      host: hostname(),
      pid: process.pid,
      version,
      types,
      slots,
      connections: connections.counted(settings),
      lease_s,
      memory_mb: settings.memory_mb,
      too_large: settings.too_large,
    };
    const registered = await engine.worker_commands.register_worker(connections.heartbeat, registration);
    const blueprints = [...engine.registry.jobs.values()].map(({ blueprint }) => blueprint);
    await engine.worker_commands.register_blueprints(connections.heartbeat, { blueprints });
    const recipes = [...engine.registry.recipes.values()].map(({ recipe }) => recipe);
    if (recipes.length > 0) await engine.worker_commands.register_recipes(connections.heartbeat, { recipes });
    const incarnation = new Incarnation(shared, worker_id, connections, registered.lease_s, sent_at);
    await incarnation.listen();
    return incarnation;
  } catch (error) {
    await connections.close();
    throw error;
  }
}

export class Incarnation {
  readonly holdings = new Holdings();
  readonly tallies = new Tallies();
  readonly runner: Runner;
  readonly finisher: Finisher;
  readonly fetcher: Fetcher;
  readonly lease: Lease;
  readonly heartbeat: Heartbeat;
  readonly housekeeping: Housekeeping;
  readonly logs: TaskLogs;
  readonly log_writer: LogWriter;
  readonly log: Logger;
  private readonly quiet = new Moment(() => this.is_quiet);
  readonly scratch_dir: string;
  private sweep_timer: NodeJS.Timeout | undefined;
  readonly leaving = new Leaving(this);

  constructor(
    readonly shared: WorkerShared,
    readonly worker_id: string,
    readonly connections: Connections,
    lease_s: number,
    registered_at: number,
  ) {
    const { engine, settings, stats, paces, memory } = shared;
    const { worker_commands: commands, registry, shared_store: store } = engine;
    const { slots, types } = settings;
    const type_slots = new TypeSlots(settings.type_slots);
    const log = shared.log.child({ worker_id });
    this.log = log;
    this.scratch_dir = join(settings.scratch_dir, worker_id);
    this.lease = new Lease(lease_s * 1000, registered_at, () => this.leaving.abandon("the lease may be over"));
    const { holdings, lease, tallies, scratch_dir } = this;
    const common: Registration = {
      worker_id,
      db: connections.work,
      commands,
      holdings,
      lease,
      memory,
      stats,
      log,
      onStale: (why = "the database no longer knows this worker") => this.leaving.abandon(why),
      onSilent: (what) => {
        // A stop has limits of its own.
        if (!this.leaving.has_begun) this.leaving.abandon(`no answer to a ${what}`);
      },
    };
    this.log_writer = new LogWriter(common);
    this.logs = new TaskLogs(this.log_writer.write);
    const { logs } = this;
    const onAnswer = (reply: FinishReply, jobs: boolean) => {
      if (reply.advanced || jobs) this.fetcher.wake();
      else this.fetcher.consider();
      // Tasks may have been kept from starting because too much was unanswered.
      if (holdings.queued > 0) this.runner.pump();
    };
    const finisher = new Finisher({ ...common, logs, onAnswer, onQuiet: () => this.quiet.look() });
    const services = openTaskServices(shared, connections, logs, scratch_dir);
    const { connection, handler_connection } = services;
    const logsWritten = () => {
      logs.send();
      return this.log_writer.written();
    };
    const onMemory = () => {
      if (memory.is_short) this.fetcher.wake();
      if (holdings.queued > 0) this.runner.pump();
    };
    const planning = { ...common, registry, plans: connections.plans, onPlanned: () => this.fetcher.wake() };
    this.finisher = finisher;
    this.runner = new Runner({
      ...common,
      finisher,
      writing_finisher: new WritingFinisher({ ...common, connection, handler_connection, logsWritten, onAnswer }),
      handlers: registry.handlers,
      slots,
      type_slots,
      abort_grace_ms: settings.abort_grace_s * 1000,
      services,
      spill: { store, worker_id },
      retry: settings.retry,
      log_tasks: settings.log_tasks,
      plan: (ctx) => planStage(planning, ctx),
      isolated: (ctx, handler) => memory.during(ctx, () => shared.processes.run(ctx, handler, worker_id), onMemory),
      onTypeRoom: () => this.fetcher.wake(),
      onRoom: () => {
        this.fetcher.consider();
        if (this.runner.running.size === 0) this.quiet.look();
        else this.sweep_timer ??= setTimeout(this.sweep, SWEEP_MS);
      },
    });
    this.fetcher = new Fetcher({
      ...common,
      finisher,
      runner: this.runner,
      paces,
      tallies,
      types,
      slots,
      type_slots,
      batch_max: settings.batch_max,
      poll_s: settings.poll_s,
      hears: () => connections.hears,
      resting: () => connections.plans.resting,
      onForgotten: (lost) => this.heard({ ok: true, lost, abort: [] }),
      onIdle: () => this.quiet.look(),
    });
    this.heartbeat = new Heartbeat({
      ...common,
      db: connections.heartbeat,
      tallies,
      state: () => this.state(),
      onReply: (reply) => this.heard(reply),
    });
    this.housekeeping = openHousekeeping(common, shared);
    log.info({ types, slots, lease_s }, "worker started");
  }

  async listen(): Promise<void> {
    const types = new Map(this.shared.settings.types.map((type) => [notifyPayload(type), type]));
    const hint = (heard: string) => {
      const task_type = types.get(heard);
      if (task_type !== undefined) this.fetcher.hint(task_type);
      else if (heard === CANCELLED && this.runner.running.size > 0) this.heartbeat.hurry();
    };
    await this.connections.listen(this.log, hint, this.fetcher.wake);
    this.fetcher.wake();
  }

  private readonly sweep = (): void => {
    this.sweep_timer = undefined;
    const now = performance.now();
    this.runner.sweep(now);
    this.holdings.shareSlots(this.shared.settings.slots, now);
    if (this.holdings.queued > 0) this.runner.pump();
    // No hint comes when something was cancelled.
    if (!this.connections.hears) this.heartbeat.atLeastEvery(DEAF_BEAT_MS);
    if (!this.leaving.has_begun) this.fetcher.surplus.handBack(now);
    if (this.runner.running.size > 0) this.sweep_timer ??= setTimeout(this.sweep, SWEEP_MS);
  };

  stopSweeping(): void {
    clearTimeout(this.sweep_timer);
  }

  private state(): WorkerState {
    const now = performance.now();
    const running = Array.from(this.runner.running, (ctx) => ({
      claim_id: ctx.claim.claim_id,
      stage_id: ctx.claim.stage.stage_id,
      ordinal: ctx.ordinal,
      // From when its time-out counts: a process of its own has to start first.
      elapsed_s: Number.isFinite(ctx.timed_from) ? Math.round(now - ctx.timed_from) / 1000 : 0,
      timeout_s: timeoutOf(ctx, this.shared.engine.registry.handlers),
      progress: ctx.progress_made,
      progress_age_s: ctx.progress_made === null ? null : Math.round(now - ctx.progress_at) / 1000,
    }));
    const { memory } = this.shared;
    return {
      running,
      claims: [...this.holdings.claims.keys()],
      rss_mb: Math.round(process.memoryUsage.rss() / 1_048_576),
      memory_used_mb: memory.needs.size === 0 ? undefined : memory.used_mb,
      draining: this.leaving.has_begun || undefined,
    };
  }

  /** The database says what is no longer ours: it is aborted, and nothing of it will be finished. */
  private heard({ lost = [], abort = [] }: HeartbeatReply): void {
    const gone = new Set(lost.map((claim_id) => this.holdings.lose(claim_id)));
    const aborted = new Set(abort.map(([claim_id, ordinal]) => `${claim_id}-${ordinal}`));
    for (const ctx of this.runner.running) {
      const is_lost = gone.has(ctx.claim);
      if (!is_lost && !aborted.has(`${ctx.claim.claim_id}-${ctx.ordinal}`)) continue;
      // Its own finish may be what has ended the claim.
      if (ctx.phase === "committing") continue;
      const why = is_lost ? "the task was given to others" : "the task was cancelled";
      this.log.info(taskFacts(ctx), why);
      ctx.abort(is_lost ? "lost" : "cancelled", new DOMException(why, "AbortError"));
    }
  }

  get is_quiet(): boolean {
    const { runner, holdings, finisher, fetcher } = this;
    return runner.running.size === 0 && holdings.queued === 0 && !finisher.busy && fetcher.is_waiting;
  }

  get is_over(): boolean {
    return this.lease.ended.aborted;
  }

  /** True when there is nothing to run, nothing running, and nothing left to say; false when this life ended first. */
  idle(): Promise<boolean> {
    return settlesWithin(this.quiet.reached(), Number.POSITIVE_INFINITY, this.lease.ended);
  }
}
