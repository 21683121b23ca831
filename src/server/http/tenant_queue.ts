// So many calls of one tenant at a time, the others in the order they came: connections to the database are few, and everybody's, and so
// is the time of this process. While several tenants call, one that uses more than its share of the time is slowed down to it: the
// database and this process have few processors, whatever the number of connections.
import { setTimeout as sleep } from "node:timers/promises";
import { type FanfoldError, OverLimit, Unavailable } from "../../core/errors/errors.js";

/** Those ahead may take as long as a statement may, one after the other: nobody waits for all of them. */
const LONGEST_MS = 20_000;
/** A tenant's share of one connection's time while others call as well, where none is said. */
const SHARE = 1 / 4;
/** What a tenant may use at once before it is slowed down. */
const BURST_MS = 200;
/** What is sent is read here, kept, and read again by workers: none of that is in the time of the call. */
const MS_PER_BYTE = 1 / 10_000;
/** For so long after its last call a tenant is one of those that share the server. */
const LATELY_MS = 5_000;
/** One call is not held up for longer, whatever those before it have taken. */
const LONGEST_REST_MS = 3_000;

interface OfTenant {
  under_way: number;
  waiting: Set<() => void>;
  /** What it has used, and has not been given since; as of `at`. */
  used_ms: number;
  at: number;
  /** What its calls take, so that one that begins is counted before it is over. */
  usual_ms: number;
}

const resting = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal });

export interface TenantQueueOptions {
  longest_ms?: number;
  /** Of one connection's time. */
  share?: number;
  /** For tests: a clock, and how to wait by it. */
  now?: () => number;
  rest?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export class TenantQueue {
  readonly #tenants = new Map<string, OfTenant>();
  readonly #longest_ms: number;
  readonly #share: number;
  readonly #now: () => number;
  readonly #rest: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Who called last, and when the last of the others did. */
  #last = { tenant: "", at: Number.NEGATIVE_INFINITY, other_at: Number.NEGATIVE_INFINITY };

  constructor(
    private readonly most: number,
    { longest_ms = LONGEST_MS, share = SHARE, now = () => performance.now(), rest = resting }: TenantQueueOptions = {},
  ) {
    this.#rest = rest;
    this.#longest_ms = longest_ms;
    this.#share = share;
    this.#now = now;
  }

  /** `bytes`: what the call brings. Throws when the caller is gone, or has waited too long. */
  async within<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>, bytes = 0): Promise<T> {
    this.#note(tenant);
    const own = this.#of(tenant);
    if (own.under_way < this.most) own.under_way++;
    else await this.#turn(own.waiting, signal);
    try {
      return await this.#counted(tenant, own, signal, work, bytes);
    } finally {
      const [next] = own.waiting;
      if (next !== undefined) {
        // Its turn is handed on: nobody comes between.
        own.waiting.delete(next);
        next();
      } else own.under_way--;
    }
  }

  #of(tenant: string): OfTenant {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    for (const [name, old] of this.#tenants) {
      if (old.under_way > 0) continue;
      this.#settle(old);
      if (old.used_ms === 0) this.#tenants.delete(name);
    }
    const own = { under_way: 0, waiting: new Set<() => void>(), used_ms: 0, at: this.#now(), usual_ms: 0 };
    this.#tenants.set(tenant, own);
    return own;
  }

  #note(tenant: string): void {
    const at = this.#now();
    const last = this.#last;
    this.#last = { tenant, at, other_at: last.tenant === tenant ? last.other_at : last.at };
  }

  #isShared(tenant: string): boolean {
    const { tenant: last, at, other_at } = this.#last;
    return this.#now() - (last === tenant ? other_at : at) < LATELY_MS;
  }

  #settle(own: OfTenant): void {
    const now = this.#now();
    own.used_ms = Math.max(0, own.used_ms - (now - own.at) * this.#share);
    own.at = now;
  }

  async #counted<T>(
    tenant: string,
    own: OfTenant,
    signal: AbortSignal,
    work: () => Promise<T>,
    bytes: number,
  ): Promise<T> {
    await this.#rested(tenant, own, signal);
    const foreseen = own.usual_ms;
    own.used_ms += foreseen;
    const began = this.#now();
    try {
      return await work();
    } finally {
      const took = this.#now() - began + bytes * MS_PER_BYTE;
      // A database that stood still makes every call long, and that is not the tenant's doing: what it owes is two rests at most.
      own.usual_ms = Math.min((own.usual_ms + took) / 2, BURST_MS);
      this.#settle(own);
      const most_owed = BURST_MS + 2 * LONGEST_REST_MS * this.#share;
      own.used_ms = Math.min(most_owed, Math.max(0, own.used_ms + took - foreseen));
    }
  }

  async #rested(tenant: string, own: OfTenant, signal: AbortSignal): Promise<void> {
    for (let left = LONGEST_REST_MS; left > 0; ) {
      this.#settle(own);
      const rest = Math.min((own.used_ms - BURST_MS) / this.#share, left);
      if (rest < 1 || !this.#isShared(tenant)) return;
      left -= rest;
      await this.#rest(rest, signal).catch(() => {
        throw new Unavailable("the caller is gone");
      });
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
      const timer = setTimeout(() => leave(this.#tooLong()), this.#longest_ms);
      waiting.add(begin);
      if (signal.aborted) isGone();
      else signal.addEventListener("abort", isGone, { once: true });
    });
  }

  #tooLong(): OverLimit {
    const words = `a tenant may have ${this.most} such calls under way at a time, and those ahead of this one are not over`;
    return new OverLimit(words, { hint: "send fewer at once, or ask for less at a time", retry_after_s: 5 });
  }
}
