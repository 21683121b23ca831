// Failed attempts to get in, counted for each address: a caller who fails again and again is told to come back later, before the
// database is asked. In this process only, and bounded: a flood from many addresses forgets the oldest ones.
import { isIPv4, isIPv6 } from "node:net";
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";

export interface SignInLimits {
  /** How many may fail at once. */
  burst?: number;
  /** How many more each second. */
  per_s?: number;
  most_addresses?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

export class FailedSignIns {
  readonly #burst: number;
  readonly #per_s: number;
  readonly #now: () => number;
  /** In the order of their last failure. */
  readonly #left: LRUCache<string, { attempts: number; at: number }>;

  constructor({ burst = 20, per_s = 1 / 3, most_addresses = 10_000, now }: SignInLimits = {}) {
    this.#burst = burst;
    this.#per_s = per_s;
    this.#now = now ?? (() => performance.now());
    this.#left = new LRUCache({ max: most_addresses });
  }

  /** Seconds until this address may try again; 0: now. */
  wait(address: string): number {
    const left = this.#leftFor(networkOf(address));
    return left >= 1 ? 0 : (1 - left) / this.#per_s;
  }

  failed(address: string): void {
    const network = networkOf(address);
    this.#left.set(network, { attempts: Math.max(0, this.#leftFor(network) - 1), at: this.#now() });
  }

  get size(): number {
    return this.#left.size;
  }

  #leftFor(network: string): number {
    const known = this.#left.peek(network);
    if (known === undefined) return this.#burst;
    return Math.min(this.#burst, known.attempts + ((this.#now() - known.at) / 1000) * this.#per_s);
  }
}

/** An IPv6 address stands for its /64: a caller who has one has them all. */
export function networkOf(address: string): string {
  // A proxy may say anything.
  const plain = address.slice(0, 100).replace(/%.*$/, "").toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(plain)) return plain;
  const [before = "", after] = plain.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array<string>(zeros).fill("0"), ...tail];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
