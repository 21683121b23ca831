// What the database was asked lately: for so long that every process acts on a change within five seconds, and at once
// where it was made. A crowd that asks for one thing asks the database once.
import { performance } from "node:perf_hooks";

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

interface Known<T> {
  value: T;
  /** From when on the database is asked again. */
  until: number;
}

export class Remembered<T> {
  readonly #known = new Map<string, Known<T>>();
  readonly #finding = new Map<string, Promise<Known<T> | null>>();

  constructor(
    private readonly ask: (id: string) => Promise<Answered<T> | null>,
    private readonly now: Clock = steady_clock,
  ) {}

  async find(id: string): Promise<T | null> {
    const known = this.#known.get(id);
    if (known !== undefined && this.now() < known.until) return known.value;
    const started = this.#finding.get(id);
    if (started !== undefined) return (await started)?.value ?? null;
    const finding = this.#ask(id);
    this.#finding.set(id, finding);
    try {
      const found = await finding;
      // Only what exists: whoever makes ids up does not fill the memory.
      if (found !== null && this.#finding.get(id) === finding) {
        if (this.#known.size >= MOST_REMEMBERED) this.#known.clear();
        this.#known.set(id, found);
      }
      return found?.value ?? null;
    } finally {
      if (this.#finding.get(id) === finding) this.#finding.delete(id);
    }
  }

  /** Asks the database at the next call for it. */
  forget(id: string): void {
    this.#known.delete(id);
    // One that is being looked up may have been read before the change: nobody joins it, and its answer is not kept.
    this.#finding.delete(id);
  }

  async #ask(id: string): Promise<Known<T> | null> {
    // Counted from before the question, because the answer may be as old as that.
    const asked_at = this.now();
    const found = await this.ask(id);
    if (found === null) return null;
    const lasts_ms = found.usable_for_s === null ? REMEMBERED_MS : Math.max(0, found.usable_for_s * 1000);
    return { value: found.value, until: asked_at + Math.min(REMEMBERED_MS, lasts_ms) };
  }
}
