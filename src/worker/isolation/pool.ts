// The child processes of isolated handlers: forked when first needed, kept warm for the next task of the same module, and
// ended when they misbehaved, have done many tasks, keep too much memory, or nobody has needed them for a while.
import type { Handler } from "../../core/declare/declare.js";
import type { RasterSettings } from "../../core/task/raster_settings.js";
import { settlesWithin } from "../wait.js";
import { type FencedModules, userOfTenant } from "./fence.js";
import { HandlerProcess, type Returned, Untouched } from "./handler_process.js";
import type { IsolatedTask } from "./isolated_task.js";
import type { Escaped } from "./messages.js";
import { OwnedSources } from "./owned_sources.js";
import { Prepared } from "./prepared.js";
import { ProcessTable } from "./process_table.js";

const TASKS_PER_PROCESS = 1000;
const IDLE_MS = 60_000;
const LOOK_MS = 250;
/** The share of the time between two looks that is spent looking at most, however many processes the machine has. */
const LOOK_SHARE = 1 / 20;
/** A process that ends so many tasks in a row with more than this share of its memory does not give it back. */
const HIGH_SHARE = 0.5;
const HIGH_TASKS = 3;
/** SIGKILL is obeyed at once, except in the middle of a disk's or a network file system's answer. */
const CLOSE_MS = 2000;

/** Told of what handlers' processes come to. */
export type ProcessLog = Record<"debug" | "info" | "warn", (facts: object, words: string) => void>;

export interface PoolOptions {
  /** The most processes at a time. */
  slots: number;
  /** What tasks may declare together; idle processes give way to them. Default: no limit. */
  memory_mb?: number;
  abort_grace_ms: number;
  node_args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  log: ProcessLog;
  /** What keeps processes away from the worker; nothing when left out. */
  fenced?: FencedModules;
  /** Takes secrets out of what an ended task's code has said. */
  clean?: (text: string) => string;
  /** Default: 1000. What leaks a little leaks for so many tasks at most. */
  tasks_per_process?: number;
  /** Default: a minute. */
  idle_ms?: number;
}

export class ProcessPool {
  private readonly processes = new Set<HandlerProcess>();
  /** The one used last at the end: the others may cool down. */
  private idle: HandlerProcess[] = [];
  private readonly high = new WeakMap<HandlerProcess, number>();
  private table = new ProcessTable();
  private readonly prepared = new Prepared();
  private readonly sources = new OwnedSources();
  private looking: NodeJS.Timeout | undefined;
  private cooling: NodeJS.Timeout | undefined;
  /** Some process may have been left with company since the last look. */
  private unseen = false;
  private closed = false;

  private readonly tasks_per_process: number;
  private readonly idle_ms: number;

  constructor(private readonly options: PoolOptions) {
    this.tasks_per_process = options.tasks_per_process ?? TASKS_PER_PROCESS;
    this.idle_ms = options.idle_ms ?? IDLE_MS;
  }

  /** Resolves with what the finish will say; rejects with a ChildFailure for what the handler threw or died of. */
  async run(ctx: IsolatedTask, handler: Handler, worker_id: string): Promise<Returned> {
    const { prepare } = handler.options;
    const raster = prepare === undefined ? ctx.raster : await this.prepared.of(prepare, ctx.raster);
    // Stopped meanwhile: no process would hear of it.
    if (ctx.stop !== null) throw new Untouched();
    for (;;) {
      try {
        return await this.start(ctx, handler, worker_id, raster);
      } catch (error) {
        // Only a process that was warm can be gone already: the last one is a fresh one.
        if (!(error instanceof Untouched) || ctx.stop !== null) throw error;
      }
    }
  }

  private start(ctx: IsolatedTask, handler: Handler, worker_id: string, raster: RasterSettings): Promise<Returned> {
    if (this.closed) throw new Error("the worker has stopped");
    const process = this.take(ctx, handler);
    this.unseen = true;
    if (this.looking === undefined) {
      // What was known before the pause may be about processes long gone.
      this.table = new ProcessTable();
      this.looking = setTimeout(this.look, LOOK_MS);
    }
    return process.run(ctx, handler, worker_id, raster);
  }

  /** The processes there are, for tests and for diagnosis. */
  get groups(): number[] {
    return Array.from(this.processes, ({ group }) => group);
  }

  private take({ tenant_id, raster }: IsolatedTask, handler: Handler): HandlerProcess {
    const { module, memory_mb } = handler.options as { module: string; memory_mb: number };
    this.idle = this.idle.filter(({ usable }) => usable);
    const at = this.idle.findLastIndex(
      ({ settings }) =>
        settings.tenant_id === tenant_id && settings.module === module && settings.memory_mb === memory_mb,
    );
    const warm = at >= 0 ? this.idle.splice(at, 1)[0]! : null;
    this.makeRoom(memory_mb);
    if (warm !== null) return warm;
    // All slots are never busy here, because a task is about to start: if the pool is full, somebody idles.
    if (this.processes.size >= this.options.slots) this.idle.shift()?.kill();
    const { node_args, env, abort_grace_ms, log, fenced } = this.options;
    const fence = fenced?.others.get(module) ?? fenced?.fence;
    const uid = fence?.kind === "user" ? userOfTenant(tenant_id) : undefined;
    if (uid !== undefined && raster?.source_cache) this.sources.give(uid, tenant_id, raster.source_cache);
    const process = new HandlerProcess(
      { tenant_id, module, memory_mb, node_args, env, abort_grace_ms, uid, words: fence?.words ?? [] },
      { onFree: this.freed, onGone: this.gone, onLateError: this.lateError },
    );
    this.processes.add(process);
    log.debug({ module, pid: process.group, processes: this.processes.size }, "handler process forked");
    return process;
  }

  /**
   * An idle process holds none of the budget, or a warm one of a type that nobody needs now would keep others from starting. But
   * what it still occupies is real: beside tasks that use all they declared, the longest idle end until the rest fits.
   */
  private makeRoom(memory_mb: number): void {
    let used_mb = memory_mb;
    for (const process of this.processes) {
      if (process.busy) used_mb += process.settings.memory_mb;
      else if (this.idle.includes(process)) used_mb += process.rss_mb;
    }
    const { memory_mb: most_mb = Number.POSITIVE_INFINITY } = this.options;
    while (used_mb > most_mb) {
      const oldest = this.idle.shift();
      if (oldest === undefined) return;
      used_mb -= oldest.rss_mb;
      oldest.kill();
    }
  }

  private readonly freed = (process: HandlerProcess): void => {
    this.sources.used();
    const is_high = process.rss_mb > process.settings.memory_mb * HIGH_SHARE;
    const high = is_high ? (this.high.get(process) ?? 0) + 1 : 0;
    this.high.set(process, high);
    if (this.closed || !process.usable || process.tasks >= this.tasks_per_process || high >= HIGH_TASKS) {
      process.kill();
      return;
    }
    this.idle.push(process);
    this.cooling ??= setTimeout(this.cool, this.idle_ms);
  };

  private readonly gone = (process: HandlerProcess): void => {
    this.processes.delete(process);
    this.idle = this.idle.filter((one) => one !== process);
  };

  private readonly lateError = (process: HandlerProcess, error: Escaped): void => {
    const { module } = process.settings;
    const { log, clean = (text: string) => text } = this.options;
    log.warn(
      { module, pid: process.group, error: clean(`${error.name}: ${error.message}`), stack: clean(error.stack) },
      "an error that nobody caught came out of a handler whose task had ended; its process is ended",
    );
    if (!process.busy) this.end(process);
  };

  private end(process: HandlerProcess): void {
    process.kill();
    this.idle = this.idle.filter((one) => one !== process);
  }

  private readonly look = (): void => {
    this.looking = undefined;
    this.unseen = false;
    const began_at = performance.now();
    const found = this.table.look(new Set(this.groups));
    for (const process of this.processes) process.look(found?.get(process.group) ?? []);
    this.idle = this.idle.filter(({ usable }) => usable);
    const busy = this.processes.size > this.idle.length;
    const took_ms = performance.now() - began_at;
    if (found !== null && (busy || this.unseen)) {
      this.looking = setTimeout(this.look, Math.max(LOOK_MS, took_ms / LOOK_SHARE));
    }
  };

  private readonly cool = (): void => {
    this.cooling = undefined;
    const before = performance.now() - this.idle_ms;
    for (const process of this.idle) if (process.idle_since <= before) process.kill();
    this.idle = this.idle.filter(({ usable }) => usable);
    if (this.idle.length > 0) this.cooling = setTimeout(this.cool, this.idle_ms / 2);
  };

  /** Ends every process. Resolves when they are gone, or soon. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.looking);
    clearTimeout(this.cooling);
    this.sources.close();
    this.looking = undefined;
    for (const process of this.processes) process.kill();
    await settlesWithin(Promise.all(Array.from(this.processes, ({ gone }) => gone)), CLOSE_MS);
  }
}
