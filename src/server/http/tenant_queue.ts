// So many calls of one tenant at a time, the others in the order they came: for what may keep a connection to the database busy for
// long. The server has few, and they are everybody's.

import { type FanfoldError, OverLimit, Unavailable } from "../../core/errors/errors.js";

/** Those ahead may take as long as a statement may, one after the other: nobody waits for all of them. */
const LONGEST_MS = 20_000;

export class TenantQueue {
  readonly #tenants = new Map<string, { under_way: number; waiting: Set<() => void> }>();

  constructor(
    private readonly most: number,
    private readonly longest_ms = LONGEST_MS,
  ) {}

  /** Throws when whoever waits is gone, or has waited too long. */
  async within<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own = this.#tenants.get(tenant) ?? { under_way: 0, waiting: new Set<() => void>() };
    this.#tenants.set(tenant, own);
    if (own.under_way < this.most) own.under_way++;
    else await this.#turn(own.waiting, signal);
    try {
      return await work();
    } finally {
      const [next] = own.waiting;
      if (next !== undefined) {
        // Its turn is handed on: nobody comes between.
        own.waiting.delete(next);
        next();
      } else if (--own.under_way === 0) this.#tenants.delete(tenant);
    }
  }

  #turn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", isGone);
        resolve();
      };
      const leave = (why: FanfoldError) => {
        if (!waiting.has(begin)) return;
        waiting.delete(begin);
        reject(why);
        begin();
      };
      const isGone = () => leave(new Unavailable("the caller is gone"));
      const timer = setTimeout(() => leave(this.#tooLong()), this.longest_ms);
      waiting.add(begin);
      if (signal.aborted) isGone();
      else signal.addEventListener("abort", isGone, { once: true });
    });
  }

  #tooLong(): OverLimit {
    const words = `a tenant may have ${this.most} long calls under way at a time, and those ahead of this one are not over`;
    return new OverLimit(words, { hint: "send fewer at once, or ask for less at a time", retry_after_s: 5 });
  }
}
