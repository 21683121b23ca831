// Keeps answers of the database for at most four seconds, so that every process acts on a change within five, and the process that
// made the change at once. Callers that ask for the same thing at the same time share one question.
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";

/** An open stream looks again every second: together they are five. */
const REMEMBERED_MS = 4_000;
const MOST_REMEMBERED = 10_000;

/** Milliseconds of a clock that never goes back. */
export type Clock = () => number;
export const steady_clock: Clock = () => performance.now();

export interface Answered<T> {
  value: T;
  /** How long it stays true at most; null: as long as it is remembered. */
  usable_for_s: number | null;
}

/** Thrown, not returned, for an id that does not exist: the cache would fail a lookup that returns nothing after a `forget`. */
const missing = new Error("there is no such id");

export class Remembered<T extends object> {
  readonly #known: LRUCache<string, T>;

  constructor(ask: (id: string) => Promise<Answered<T> | null>, now: Clock = steady_clock) {
    this.#known = new LRUCache<string, T>({
      max: MOST_REMEMBERED,
      ttl: REMEMBERED_MS,
      ttlResolution: 0,
      perf: { now },
      // Callers that asked before a `forget` still get their answer, but it is not kept.
      ignoreFetchAbort: true,
      fetchMethod: async (id, _known, { options }) => {
        const asked_at = now();
        const found = await ask(id);
        // Only what exists is kept, so that a caller who makes ids up does not fill the memory.
        if (found === null) throw missing;
        const lasts_ms = Math.min(REMEMBERED_MS, (found.usable_for_s ?? Number.POSITIVE_INFINITY) * 1000);
        // Counted from before the question, because the answer may be as old as that. A time of 0 would mean for ever.
        options.ttl = asked_at + lasts_ms - now() || -1;
        return found.value;
      },
    });
  }

  async find(id: string): Promise<T | null> {
    try {
      return await this.#known.forceFetch(id);
    } catch (error) {
      if (error === missing) return null;
      throw error;
    }
  }

  /** Asks the database at the next call for it, and lets nobody join a lookup that may have read before the change. */
  forget(id: string): void {
    this.#known.delete(id);
  }
}
