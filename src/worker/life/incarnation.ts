// One registered life of a worker: a fresh id, its connections, and the loops that claim, run, finish and keep the lease.
// A worker whose lease ran out is born again under another id, so that its late words cannot be taken for the new one's. How a
// life ends stands in leaving.ts.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { notifyPayload } from "../../core/task/notify_payload.js";
import type { Engine } from "../../engine/engine.js";
import type { Housekeeping } from "../../engine/upkeep/housekeeping.js";
import type { FinishReply } from "../../engine/work/commands.js";
import type { HandlerPace } from "../claim/batch.js";
import { Fetcher } from "../claim/fetch.js";
import { Holdings } from "../claim/held.js";
import { TypeSlots } from "../claim/type_slots.js";
import { Finisher } from "../finish/finish.js";
import { WritingFinisher } from "../finish/finish_writes.js";
import type { ProcessPool } from "../isolation/pool.js";
import type { WorkerSettings } from "../options.js";
import { planStage } from "../plan/planning.js";
import { LogWriter, TaskLogs } from "../run/logs.js";
import type { MemoryBudget } from "../run/memory.js";
import { Runner } from "../run/run.js";
import type { Secrets } from "../run/secrets.js";
import { openTaskServices } from "../run/task_services.js";
import { type Stats, Tallies } from "../stats.js";
import { Moment, settlesWithin } from "../wait.js";
import { Connections } from "./connections.js";
import { Heartbeat, Lease } from "./heartbeat.js";
import { Leaving } from "./leaving.js";
import { stopLost } from "./lost_tasks.js";
import { type Registration, register } from "./registration.js";
import { openHousekeeping } from "./worker_housekeeping.js";
import { stateOf } from "./worker_state.js";

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
    const { worker_commands } = engine;
    if (former !== null) {
      // It may be unknown by now, which is as good.
      await worker_commands.stop_worker(connections.heartbeat, { worker_id: former }).catch(() => {});
    }
    const sent_at = performance.now();
    const { lease_s } = await register(engine, settings, connections, worker_id);
    const incarnation = new Incarnation(shared, worker_id, connections, lease_s, sent_at);
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
      onForgotten: (lost) => stopLost(this, { lost, abort: [] }),
      onIdle: () => this.quiet.look(),
    });
    this.heartbeat = new Heartbeat({
      ...common,
      db: connections.heartbeat,
      tallies,
      state: () => stateOf(this),
      onReply: (reply) => stopLost(this, reply),
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
