// A worker without a database: handlers run here, everything else is asked of the service over HTTP. Tasks run at least once; what
// is no longer held is dropped, as on the database. Handlers run in this process, or in ones of their own.
import { hostname, tmpdir } from "node:os";
import type { ReplyOf } from "../core/api/endpoint.js";
import { type WorkStage, type WorkTask, work_api } from "../core/api/work.js";
import type { Handler, Job } from "../core/declare/declare.js";
import { createRegistry } from "../core/declare/registry.js";
import { classify, isFanfoldError, TimeoutError, Transient } from "../core/errors/errors.js";
import { invoke } from "../core/task/invoke.js";
import { Redaction } from "../core/values/redaction.js";
import type { RemoteProcesses } from "../handler_processes.js";
import { pause } from "./abort.js";
import type { Caller } from "./call.js";
import { type ClaimWish, doneOf, type Finished, failedOf, isStale, Outbox, returnedOf } from "./outbox.js";
import { type Aborted, own_folders, RemoteContext, type RemoteDesk } from "./remote_context.js";
import { failureOf, keyNoted, openProcesses, runApart } from "./remote_isolation.js";
import { planRemotely } from "./remote_plan.js";
import { createTransport, type Transport } from "./transport.js";
import { WorkerCounts } from "./worker_counts.js";
import { backoff, countedAs, freeByType, Life, orGivenUp, runningState, timeoutOf } from "./worker_life.js";
import type { RemoteWorker, RemoteWorkerOptions, RemoteWorkerStats } from "./worker_options.js";

/** For the last words of a worker that is to end at once. */
const KILL_MS = 3_000;

/** Resolves when the service knows it; rejects when the key or the address is wrong. */
export async function startRemoteWorker(options: RemoteWorkerOptions): Promise<RemoteWorker> {
  const { handlers, jobs } = createRegistry({ handlers: options.handlers, jobs: options.jobs ?? [] });
  const secrets = new Redaction();
  const noted = { ...options, key: keyNoted(options.key, secrets) };
  const processes = await openProcesses(noted, handlers, secrets);
  const { call, bytes } = createTransport(noted);
  const worker = new Worker(options, handlers, jobs, processes, secrets, call, bytes);
  try {
    await worker.begin();
  } catch (error) {
    await processes?.close();
    throw error;
  }
  return worker;
}

class Worker implements RemoteWorker {
  readonly #stats: RemoteWorkerStats = { claimed: 0, completed: 0, failed: 0, refused: 0, dropped: 0, registered: 0 };
  readonly #stages = new Map<number, WorkStage>();
  readonly #leaving = new AbortController();
  readonly #hurry = new AbortController();
  #life!: Life;
  #loops: Promise<unknown> = Promise.resolve();
  #freed: () => void = () => {};
  #stopped: Promise<void> | undefined;

  constructor(
    private readonly options: RemoteWorkerOptions,
    private readonly handlers: ReadonlyMap<string, Handler>,
    private readonly jobs: ReadonlyMap<string, Job>,
    /** null: no handler runs in a process of its own. */
    private readonly processes: RemoteProcesses | null,
    /** All that handlers have asked for. */
    private readonly secrets: Redaction,
    private readonly call: Caller,
    private readonly bytes: Transport["bytes"],
  ) {}

  get worker_id(): string {
    return this.#life.worker_id;
  }

  stats(): RemoteWorkerStats {
    return { ...this.#stats };
  }

  async begin(): Promise<void> {
    this.#life = await this.#register();
    this.#loops = Promise.all([this.#claimLoop(), this.#heartbeatLoop()]);
  }

  get #slots(): number {
    return this.options.slots ?? 8;
  }

  async #register(): Promise<Life> {
    const sent_at = performance.now();
    const { memory_mb, too_large = {} } = this.processes ?? {};
    const types = [...this.handlers.keys()].filter((type) => too_large[type] === undefined);
    const planned = [...this.jobs.values()].filter(({ planners, conditions }) => planners.size + conditions.size > 0);
    const body = {
      types,
      plans: planned.map(({ type }) => type),
      slots: this.#slots,
      lease_s: this.options.lease_s ?? 30,
      host: hostname(),
      pid: process.pid,
      ...(memory_mb === undefined ? {} : { memory_mb, too_large }),
    };
    const { worker_id, lease_s } = await this.call(work_api.register, { body, signal: this.#leaving.signal });
    this.#stats.registered++;
    const life = new Life(worker_id, lease_s * 1000, sent_at, new WorkerCounts());
    life.outbox = new Outbox({
      worker_id,
      call: this.call,
      lease_over: life.over.signal,
      onStale: () => this.#abandon(life),
      onTold: (tasks, { refused }) => {
        this.#stats.refused += refused.length;
        for (const { claim_id } of tasks) life.settle(claim_id);
      },
      wanted: () => this.#wanted(life),
      claimed: (found) => {
        life.asking = false;
        if (found !== null) this.#take(life, found);
        this.#freed();
      },
      onTrouble: (error) => this.options.on_trouble?.(error),
    });
    this.#stages.clear();
    return life;
  }

  /** What a finish may ask for besides; the receiver says when it was answered. */
  #wanted(life: Life): ClaimWish | null {
    const limit = Math.min(this.#slots - life.running.size, 1000);
    if (life.asking || limit <= 0 || this.#leaving.signal.aborted || life !== this.#life || life.is_over) return null;
    life.asking = true;
    return {
      limit,
      known_stages: [...this.#stages.keys()].slice(-50),
      ...freeByType(life, this.options.slots_by_type, this.processes),
    };
  }

  async #claimLoop(): Promise<void> {
    const { signal } = this.#leaving;
    for (let failures = 0; !signal.aborted; ) {
      const life = this.#life;
      const free = this.#slots - life.running.size;
      if (free <= 0 || (life.asking && !life.is_over)) {
        await this.#room(signal);
        continue;
      }
      try {
        if (life.is_over) await this.#renew(life);
        else await this.#claim(life);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        if (isStale(error)) this.#abandon(life);
        else if (!life.is_over) this.options.on_trouble?.(error);
        await pause(backoff(failures), signal).catch(() => {});
      }
    }
  }

  async #renew(life: Life): Promise<void> {
    this.#abandon(life);
    this.#life = await this.#register();
  }

  #room(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#freed = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async #claim(life: Life): Promise<void> {
    const wish = this.#wanted(life);
    if (wish === null) return;
    const wait_s = this.options.wait_s ?? 20;
    const again = new AbortController();
    life.askAgain = () => again.abort();
    try {
      const found = await this.call(work_api.claim, {
        params: { worker_id: life.worker_id },
        body: { ...wish, wait_s },
        // The end of the lease ends the waiting too: what comes then is nobody's.
        signal: AbortSignal.any([life.closed.signal, again.signal]),
        timeout_ms: (wait_s + 15) * 1000,
      });
      this.#take(life, found);
    } catch (error) {
      if (!again.signal.aborted) throw error;
    } finally {
      life.asking = false;
      life.askAgain = () => {};
    }
  }

  #take(life: Life, { tasks, stages }: ReplyOf<typeof work_api.claim>): void {
    for (const stage of stages) this.#stages.set(stage.stage_id, stage);
    for (const { claim_id } of tasks) life.hold(claim_id);
    this.#stats.claimed += tasks.length;
    for (const task of tasks) void this.#run(life, task);
    while (this.#stages.size > 100) this.#stages.delete(this.#stages.keys().next().value as number);
  }

  async #run(life: Life, task: WorkTask): Promise<void> {
    const facts = this.#stages.get(task.stage_id) as WorkStage;
    const { call, options, processes } = this;
    const desk: RemoteDesk = {
      worker_id: life.worker_id,
      call,
      bytes: this.bytes,
      storage: options.storage ?? null,
      secrets: options.secrets === undefined ? null : this.#secret,
      outbound: options.outbound ?? {},
      scratch_dir: processes?.scratch_dir ?? options.scratch_dir ?? tmpdir(),
      folders: processes?.folders ?? own_folders,
      log: (line) => life.outbox.log(line),
    };
    const ctx = new RemoteContext(desk, task, facts);
    life.running.add(ctx);
    life.counts.of(countedAs(task, facts)).claimed(1);
    const timeout_s = timeoutOf(facts, this.handlers);
    const handler = this.handlers.get(facts.task_type);
    const isolated = task.kind === "task" && handler?.options.isolation === "process" ? processes : null;
    let timer: NodeJS.Timeout | undefined;
    const startClock = () => {
      if (ctx.aborted !== null) return;
      timer = setTimeout(() => ctx.abort("timeout", new TimeoutError(timeout_s)), timeout_s * 1000).unref();
    };
    if (isolated === null) startClock();
    else ctx.timed_from = Number.POSITIVE_INFINITY;
    try {
      if (task.kind === "plan") await this.#plan(life, ctx);
      else {
        const told = await this.#orGivenUp(ctx, isolated, async () => {
          if (isolated !== null) return returnedOf(ctx, await runApart(isolated, ctx, life.worker_id, startClock));
          if (handler !== undefined) return doneOf(ctx, await invoke(handler, ctx));
          throw new Transient(`this worker has no handler "${facts.task_type}"`, { code: "no_handler" });
        });
        this.#end(life, ctx, told, false);
      }
    } catch (error) {
      this.#end(life, ctx, failedOf(ctx, failureOf(ctx, error)), true);
    } finally {
      clearTimeout(timer);
      life.running.delete(ctx);
      // A question that waits was asked when this type had no slot to spare, or there was no memory.
      if (isolated !== null || options.slots_by_type?.[facts.task_type] !== undefined) life.askAgain();
      this.#freed();
      ctx.removeScratch().catch((error: unknown) => options.on_trouble?.(error));
    }
  }

  readonly #secret = async (name: string): Promise<string | null> => {
    const value = (await this.options.secrets?.(name)) ?? null;
    if (value !== null) this.secrets.add(value);
    return value;
  };

  /** Its tasks are its result: there is nothing to tell when it is done. */
  async #plan(life: Life, ctx: RemoteContext): Promise<void> {
    const { call, jobs } = this;
    try {
      await this.#orGivenUp(ctx, null, () => planRemotely({ worker_id: life.worker_id, call, jobs }, ctx));
      this.#stats.completed++;
      life.counts.of("#plan").completed(ctx.elapsed_ms);
    } catch (error) {
      // Others plan it now, or its job has ended.
      if (!isFanfoldError(error) || error.code !== "not_allowed_now") throw error;
      this.#stats.dropped++;
    }
    life.settle(ctx.given.claim_id);
  }

  #orGivenUp<T>(ctx: RemoteContext, apart: RemoteProcesses | null, work: () => Promise<T>): Promise<T> {
    return orGivenUp(ctx, (this.options.abort_grace_s ?? 5) + (apart?.kill_patience_s ?? 0), work);
  }

  /** What is no longer held is dropped, what was stopped is handed back, all else is told. */
  #end(life: Life, ctx: RemoteContext, told: Finished, is_failure: boolean): void {
    const { claim_id, task_id } = ctx.given;
    if (life.is_over || ctx.aborted === "lost" || ctx.aborted === "cancelled") {
      this.#stats.dropped++;
      life.settle(claim_id);
    } else if (ctx.aborted === "stopping" && is_failure) {
      // stop() hands back all that is held and not told.
      this.#stats.dropped++;
    } else {
      const is_late = ctx.aborted === "timeout" && !is_failure;
      const end = is_late ? failedOf(ctx, classify(ctx.signal.reason)) : told;
      const tally = life.counts.of(countedAs(ctx.given, ctx.facts));
      if (end.error === undefined) {
        this.#stats.completed++;
        tally.completed(end.duration_ms);
      } else {
        this.#stats.failed++;
        tally.failed(end.duration_ms, end.error.category);
      }
      const retry = this.handlers.get(ctx.task_type)?.options.retry;
      if (end.error !== undefined && retry !== undefined) end.error.retry = retry;
      life.outbox.add({ ...end, task_id }, (failure) => ({ ...failedOf(ctx, failure), task_id }));
    }
  }

  /** Beats until the worker has left: what runs on while it stops must be kept. */
  async #heartbeatLoop(): Promise<void> {
    const { signal } = this.#hurry;
    while (!signal.aborted) {
      const life = this.#life;
      await pause(life.lease_ms / 3, signal).catch(() => {});
      if (signal.aborted || life !== this.#life) continue;
      if (life.is_over) {
        // A worker that was frozen finds out here: its slots may all be taken, so that nobody asks for work.
        this.#abandon(life);
        continue;
      }
      const sent_at = performance.now();
      const { counts, told } = life.counts.changed();
      try {
        const reply = await this.call(work_api.heartbeat, {
          params: { worker_id: life.worker_id },
          body: {
            claims: [...life.claims.keys()],
            running: Array.from(life.running, (ctx) => runningState(ctx, this.handlers)),
            draining: this.#leaving.signal.aborted,
            rss_mb: Math.round(process.memoryUsage.rss() / 1_048_576),
            ...(this.processes === null ? {} : { memory_used_mb: this.processes.used_mb }),
            ...(counts === undefined ? {} : { counts }),
          },
          signal: life.over.signal,
          timeout_ms: life.lease_ms / 3,
        });
        life.renewed_at = sent_at;
        told();
        this.#heard(life, reply);
      } catch (error) {
        if (signal.aborted) return;
        if (isStale(error)) this.#abandon(life);
        else this.options.on_trouble?.(error);
        if (life.is_over) this.#abandon(life);
      }
    }
  }

  #heard(life: Life, { lost, abort }: { lost: number[]; abort: { task_id: string; claim_id: number }[] }): void {
    const gone = new Set(lost);
    const cancelled = new Set(abort.map(({ task_id, claim_id }) => `${claim_id}/${task_id}`));
    for (const ctx of life.running) {
      const { claim_id, task_id } = ctx.given;
      if (gone.has(claim_id)) this.#abort(ctx, "lost", "the task was given to others");
      else if (cancelled.has(`${claim_id}/${task_id}`)) this.#abort(ctx, "cancelled", "the task was cancelled");
    }
    for (const claim_id of lost) life.claims.delete(claim_id);
  }

  #abort(ctx: RemoteContext, why: Aborted, words: string): void {
    ctx.abort(why, new DOMException(words, "AbortError"));
  }

  /** Others may hold these tasks already: stop, forget, say nothing more; the claim loop registers anew. */
  #abandon(life: Life): void {
    life.end();
    for (const ctx of life.running) this.#abort(ctx, "lost", "the lease may be over");
    life.claims.clear();
    life.running.clear();
    this.#freed();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#leave();
    return this.#stopped;
  }

  kill(): Promise<void> {
    this.#hurry.abort();
    return this.stop();
  }

  async #leave(): Promise<void> {
    this.#leaving.abort();
    const life = this.#life;
    life.closed.abort();
    const { grace_s = 30, abort_grace_s = 5 } = this.options;
    await this.#untilQuiet(life, grace_s * 1000);
    for (const ctx of life.running) this.#abort(ctx, "stopping", "the worker stops");
    await this.#untilQuiet(life, (abort_grace_s + (this.processes?.kill_patience_s ?? 0)) * 1000);
    if (!life.is_over) {
      const patience_ms = this.#hurry.signal.aborted ? KILL_MS : life.lease_ms;
      await Promise.race([life.outbox.drained(), pause(patience_ms, life.over.signal).catch(() => {})]);
      // What is left is handed back here, started or not.
      const params = { worker_id: life.worker_id };
      await this.call(work_api.stop, { params, timeout_ms: 5_000 }).catch((error) => this.options.on_trouble?.(error));
    }
    life.end();
    life.outbox.stop();
    this.#hurry.abort();
    await Promise.all([this.#loops, this.processes?.close()]);
  }

  async #untilQuiet(life: Life, ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (life.running.size > 0 && performance.now() < until && !this.#hurry.signal.aborted && !life.is_over) {
      await pause(20, this.#hurry.signal).catch(() => {});
    }
  }
}
