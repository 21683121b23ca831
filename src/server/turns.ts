// So many calls of one tenant at a time, the others in the order they came: for what may keep a connection to the database busy for
// long. The server has few, and they are everybody's.

import { Unavailable } from "../core/errors.js";

export class Turns {
  readonly #tenants = new Map<string, { under_way: number; waiting: Set<() => void> }>();

  constructor(private readonly most: number) {}

  /** Throws when whoever waits is gone. */
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
      const leave = () => {
        if (waiting.delete(begin)) reject(new Unavailable("the caller is gone"));
      };
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      waiting.add(begin);
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    });
  }
}
