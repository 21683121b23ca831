// A worker without a database: handlers run here, everything else is asked of the service over HTTP. Tasks run at least once; what
// is no longer held is dropped, as on the database. Handlers run in this process.
import { hostname, tmpdir } from "node:os";
import { type WorkStage, type WorkTask, work_api } from "../core/api/work.js";
import type { Handler } from "../core/declare/declare.js";
import { createRegistry } from "../core/declare/registry.js";
import { BadRequest, classify, Transient } from "../core/errors/errors.js";
import { invoke } from "../core/task/invoke.js";
import { pause } from "./abort.js";
import type { Caller } from "./call.js";
import { doneOf, failedOf, isStale, Outbox } from "./outbox.js";
import { type Aborted, RemoteContext, type RemoteDesk } from "./remote_context.js";
import { createTransport } from "./transport.js";
import type { RemoteWorker, RemoteWorkerOptions, RemoteWorkerStats } from "./worker_options.js";

const DEFAULT_TIMEOUT_S = 1800;
/** For the last words of a worker that is to end at once. */
const KILL_MS = 3_000;

/** Resolves when the service knows it; rejects when the key or the address is wrong. */
export async function startRemoteWorker(options: RemoteWorkerOptions): Promise<RemoteWorker> {
  const { handlers } = createRegistry({ handlers: options.handlers });
  const isolated = [...handlers.values()].filter(({ options: { isolation } }) => isolation === "process");
  if (isolated.length > 0) {
    const names = isolated.map(({ name }) => name).join(", ");
    throw new BadRequest(`${names} must run in a process of its own, which a worker over HTTP has not`, {
      hint: 'leave isolation: "process" out, or run it in a worker on the database',
    });
  }
  const { call } = createTransport(options);
  const worker = new Worker(options, handlers, call);
  await worker.begin();
  return worker;
}

/** One registration: what was claimed under it ends with it. */
class Life {
  readonly over = new AbortController();
  /** Aborted when no more is claimed under it. */
  readonly closed = new AbortController();
  readonly running = new Set<RemoteContext>();
  /** Claims, with how many of their tasks have not been told of. */
  readonly claims = new Map<number, number>();
  renewed_at: number;
  outbox!: Outbox;

  constructor(
    readonly worker_id: string,
    readonly lease_ms: number,
    sent_at: number,
  ) {
    this.renewed_at = sent_at;
  }

  /** Judged by this process's own clock from when the last answered heartbeat was sent: earlier than the service does. */
  get is_over(): boolean {
    if (!this.over.signal.aborted && performance.now() - this.renewed_at >= this.lease_ms) this.end();
    return this.over.signal.aborted;
  }

  end(): void {
    this.closed.abort();
    this.over.abort();
  }
}

function backoff(failures: number): number {
  return Math.min(5_000, 100 * 2 ** Math.min(failures, 6)) * (0.5 + Math.random() / 2);
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
    private readonly call: Caller,
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
    const types = [...this.handlers.keys()];
    const body = { types, slots: this.#slots, lease_s: this.options.lease_s ?? 30, host: hostname(), pid: process.pid };
    const { worker_id, lease_s } = await this.call(work_api.register, { body, signal: this.#leaving.signal });
    this.#stats.registered++;
    const life = new Life(worker_id, lease_s * 1000, sent_at);
    life.outbox = new Outbox({
      worker_id,
      call: this.call,
      lease_over: life.over.signal,
      onStale: () => this.#abandon(life),
      onTold: (tasks, refused) => {
        this.#stats.refused += refused;
        for (const { claim_id } of tasks) this.#settle(life, claim_id);
      },
      onTrouble: (error) => this.options.on_trouble?.(error),
    });
    this.#stages.clear();
    return life;
  }

  #settle(life: Life, claim_id: number): void {
    const left = (life.claims.get(claim_id) ?? 1) - 1;
    if (left > 0) life.claims.set(claim_id, left);
    else life.claims.delete(claim_id);
  }

  async #claimLoop(): Promise<void> {
    const { signal } = this.#leaving;
    for (let failures = 0; !signal.aborted; ) {
      const life = this.#life;
      const free = this.#slots - life.running.size;
      if (free <= 0) {
        await this.#room(signal);
        continue;
      }
      try {
        if (life.is_over) await this.#renew(life);
        else await this.#claim(life, free);
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

  async #claim(life: Life, limit: number): Promise<void> {
    const wait_s = this.options.wait_s ?? 20;
    const { tasks, stages } = await this.call(work_api.claim, {
      params: { worker_id: life.worker_id },
      body: { limit: Math.min(limit, 1000), wait_s, known_stages: [...this.#stages.keys()].slice(-50) },
      // The end of the lease ends the waiting too: what comes then is nobody's.
      signal: life.closed.signal,
      timeout_ms: (wait_s + 15) * 1000,
    });
    for (const stage of stages) this.#stages.set(stage.stage_id, stage);
    for (const { claim_id } of tasks) life.claims.set(claim_id, (life.claims.get(claim_id) ?? 0) + 1);
    this.#stats.claimed += tasks.length;
    for (const task of tasks) void this.#run(life, task);
    while (this.#stages.size > 100) this.#stages.delete(this.#stages.keys().next().value as number);
  }

  async #run(life: Life, task: WorkTask): Promise<void> {
    const facts = this.#stages.get(task.stage_id) as WorkStage;
    const { call, options } = this;
    const desk: RemoteDesk = {
      worker_id: life.worker_id,
      call,
      storage: options.storage ?? null,
      secrets: options.secrets ?? null,
      outbound: options.outbound ?? {},
      scratch_dir: options.scratch_dir ?? tmpdir(),
      log: (line) => life.outbox.log(line),
    };
    const ctx = new RemoteContext(desk, task, facts);
    life.running.add(ctx);
    const timeout_s = this.#timeoutOf(facts);
    const timer = setTimeout(() => {
      ctx.abort(
        "timeout",
        new Transient(`the task ran longer than its time-out of ${timeout_s} s`, { code: "timeout" }),
      );
    }, timeout_s * 1000);
    try {
      const returned = await this.#orGivenUp(ctx, () => this.#invoke(ctx, facts.task_type));
      this.#end(life, ctx, () => doneOf(ctx, returned), false);
    } catch (error) {
      const cause = ctx.aborted === "timeout" ? ctx.signal.reason : error;
      this.#end(life, ctx, () => failedOf(ctx, classify(cause)), true);
    } finally {
      clearTimeout(timer);
      life.running.delete(ctx);
      this.#freed();
      ctx.removeScratch().catch((error: unknown) => options.on_trouble?.(error));
    }
  }

  async #invoke(ctx: RemoteContext, task_type: string): Promise<unknown> {
    const handler = this.handlers.get(task_type);
    if (handler === undefined) throw new Transient(`this worker has no handler "${task_type}"`, { code: "no_handler" });
    return invoke(handler, ctx);
  }

  /** A handler that does not stop when asked keeps its slot for the grace, and no longer. */
  async #orGivenUp(ctx: RemoteContext, work: () => Promise<unknown>): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const given_up = new Promise<never>((_, reject) => {
      ctx.signal.addEventListener("abort", () => {
        timer = setTimeout(() => reject(ctx.signal.reason), (this.options.abort_grace_s ?? 5) * 1000);
      });
    });
    given_up.catch(() => {});
    try {
      return await Promise.race([work(), given_up]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What is no longer held is dropped, what was stopped is handed back, all else is told. */
  #end(life: Life, ctx: RemoteContext, told: () => ReturnType<typeof doneOf>, is_failure: boolean): void {
    const { claim_id, task_id } = ctx.given;
    if (life.is_over || ctx.aborted === "lost" || ctx.aborted === "cancelled") {
      this.#stats.dropped++;
      this.#settle(life, claim_id);
    } else if (ctx.aborted === "stopping" && is_failure) {
      // stop() hands back all that is held and not told.
      this.#stats.dropped++;
    } else {
      const end = ctx.aborted === "timeout" ? failedOf(ctx, classify(ctx.signal.reason)) : told();
      if (end.error === undefined) this.#stats.completed++;
      else this.#stats.failed++;
      const retry = this.handlers.get(ctx.task_type)?.options.retry;
      if (end.error !== undefined && retry !== undefined) end.error.retry = retry;
      life.outbox.add({ ...end, task_id });
    }
  }

  #timeoutOf({ task_type, timeout_s, job_id }: WorkStage): number {
    const own = this.handlers.get(task_type)?.options.timeout_s;
    const declared = job_id === null ? (own ?? timeout_s) : (timeout_s ?? own);
    return Math.min(declared ?? DEFAULT_TIMEOUT_S, 2_000_000);
  }

  /** Beats until the worker has left: what runs on while it stops must be kept. */
  async #heartbeatLoop(): Promise<void> {
    const { signal } = this.#hurry;
    while (!signal.aborted) {
      const life = this.#life;
      await pause(life.lease_ms / 3, signal).catch(() => {});
      if (signal.aborted || life !== this.#life || life.is_over) continue;
      const sent_at = performance.now();
      try {
        const reply = await this.call(work_api.heartbeat, {
          params: { worker_id: life.worker_id },
          body: {
            claims: [...life.claims.keys()],
            running: Array.from(life.running, (ctx) => this.#state(ctx)),
            draining: this.#leaving.signal.aborted,
            rss_mb: Math.round(process.memoryUsage.rss() / 1_048_576),
          },
          signal: life.over.signal,
          timeout_ms: life.lease_ms / 3,
        });
        life.renewed_at = sent_at;
        this.#heard(life, reply);
      } catch (error) {
        if (signal.aborted) return;
        if (isStale(error)) this.#abandon(life);
        else this.options.on_trouble?.(error);
        if (life.is_over) this.#abandon(life);
      }
    }
  }

  #state(ctx: RemoteContext) {
    const now = performance.now();
    const { task_id, claim_id } = ctx.given;
    return {
      task_id,
      claim_id,
      elapsed_s: (now - ctx.started_at) / 1000,
      timeout_s: this.#timeoutOf(ctx.facts),
      progress: ctx.progress_made,
      progress_age_s: ctx.progress_made === null ? null : (now - ctx.progress_at) / 1000,
    };
  }

  #heard(life: Life, { lost, abort }: { lost: number[]; abort: { task_id: string; claim_id: number }[] }): void {
    const gone = new Set(lost);
    const cancelled = new Set(abort.map(({ task_id, claim_id }) => `${claim_id}/${task_id}`));
    for (const ctx of life.running) {
      const { claim_id, task_id } = ctx.given;
      if (gone.has(claim_id)) this.#take(ctx, "lost", "the task was given to others");
      else if (cancelled.has(`${claim_id}/${task_id}`)) this.#take(ctx, "cancelled", "the task was cancelled");
    }
    for (const claim_id of lost) life.claims.delete(claim_id);
  }

  #take(ctx: RemoteContext, why: Aborted, words: string): void {
    ctx.abort(why, new DOMException(words, "AbortError"));
  }

  /** Others may hold these tasks already: stop, forget, say nothing more; the claim loop registers anew. */
  #abandon(life: Life): void {
    life.end();
    for (const ctx of life.running) this.#take(ctx, "lost", "the lease may be over");
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
    for (const ctx of life.running) this.#take(ctx, "stopping", "the worker stops");
    await this.#untilQuiet(life, abort_grace_s * 1000);
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
    await this.#loops;
  }

  async #untilQuiet(life: Life, ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (life.running.size > 0 && performance.now() < until && !this.#hurry.signal.aborted && !life.is_over) {
      await pause(20, this.#hurry.signal).catch(() => {});
    }
  }
}
