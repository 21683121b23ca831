// The task a child process has in hand, from its start there to its end: who waits for it, what may be asked meanwhile, and
// the timers that are its alone.
import type { HandlerProcess, Returned } from "./handler_process.js";
import type { IsolatedTask } from "./isolated_task.js";
import { Service } from "./service.js";

export class RunningTask {
  readonly began_at = performance.now();
  readonly service: Service;
  readonly settled: Promise<Returned>;
  resolve!: (returned: Returned) => void;
  reject!: (error: unknown) => void;
  private timers: NodeJS.Timeout[] = [];

  constructor(
    readonly run: number,
    readonly ctx: IsolatedTask,
    /** The most it may write. */
    readonly output_bytes: number,
    has_database: boolean,
    process: Pick<HandlerProcess, "abort" | "kill" | "reply">,
  ) {
    this.settled = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.service = new Service(ctx, has_database, process.reply);
    this.onAbort = () => {
      this.service.close();
      process.abort();
    };
    ctx.kill = () => process.kill();
    ctx.timed_from = Number.POSITIVE_INFINITY;
    ctx.signal.addEventListener("abort", this.onAbort);
  }

  private readonly onAbort: () => void;

  get has_started(): boolean {
    return this.ctx.timed_from !== Number.POSITIVE_INFINITY;
  }

  /** The module is there and the handler runs. */
  start(): void {
    this.ctx.timed_from = performance.now();
    this.clearTimers();
  }

  after(ms: number, act: () => void): void {
    this.timers.push(setTimeout(act, ms));
  }

  clearTimers(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }

  /** It has nothing more to do with its process. */
  detach(): void {
    this.clearTimers();
    this.service.close();
    this.ctx.kill = undefined;
    this.ctx.signal.removeEventListener("abort", this.onAbort);
  }
}
