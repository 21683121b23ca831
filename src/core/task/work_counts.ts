// What a worker counts for each task type: one row of numbers that only grow. The database adds rows up without knowing what
// the positions mean, so new counts go to the end and none is ever moved. Pure.

/** Of task types, since the worker registered: each only grows. */
export type TypeCounts = readonly (readonly [task_type: string, counts: readonly number[]])[];

/** Upper bounds of the duration histogram, in seconds. */
export const duration_bounds_s = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 20, 60, 300, 1800] as const;

export const failure_categories = ["transient", "throttled", "permanent", "contract", "crash"] as const;

const CLAIMED = 0;
const COMPLETED = 1;
const REFUSED = 2;
const DURATION_S = 3;
const FAILED = 4;
const RETRIED = FAILED + failure_categories.length;
/** One for each bound, and one for what took longer than all. Not cumulative. */
const DURATIONS = RETRIED + failure_categories.length;
const SIZE = DURATIONS + duration_bounds_s.length + 1;

/** The counts of one task type in one life of a worker. Runs at a hundred thousand tasks a second: plain numbers in one array. */
export class Tally {
  readonly counts = new Float64Array(SIZE);

  claimed(tasks: number): void {
    this.counts[CLAIMED]! += tasks;
  }

  completed(duration_ms: number): void {
    this.counts[COMPLETED]!++;
    this.#took(duration_ms);
  }

  failed(duration_ms: number, category: string): void {
    this.counts[FAILED + categoryAt(category)]!++;
    this.#took(duration_ms);
  }

  retried(category: string): void {
    this.counts[RETRIED + categoryAt(category)]!++;
  }

  refused(): void {
    this.counts[REFUSED]!++;
  }

  /** Grows with every count: two that are equal have counted the same. */
  get total(): number {
    let sum = 0;
    for (const count of this.counts) sum += count;
    return sum;
  }

  #took(duration_ms: number): void {
    const seconds = duration_ms / 1000;
    let at = 0;
    while (at < duration_bounds_s.length && seconds > duration_bounds_s[at]!) at++;
    this.counts[DURATIONS + at]!++;
    this.counts[DURATION_S]! += seconds;
  }
}

export interface WorkCounts {
  claimed: number;
  completed: number;
  refused: number;
  /** By category. */
  failed: Record<string, number>;
  retried: Record<string, number>;
  duration_s: number;
  /** One for each bound and one more; not cumulative. */
  durations: number[];
}

/** Rows of workers of another version may be shorter or longer. */
export function readCounts(counts: readonly number[]): WorkCounts {
  const at = (position: number) => counts[position] ?? 0;
  const byCategory = (from: number) =>
    Object.fromEntries(failure_categories.map((category, offset) => [category, at(from + offset)]));
  return {
    claimed: at(CLAIMED),
    completed: at(COMPLETED),
    refused: at(REFUSED),
    failed: byCategory(FAILED),
    retried: byCategory(RETRIED),
    duration_s: at(DURATION_S),
    durations: Array.from({ length: duration_bounds_s.length + 1 }, (_, offset) => at(DURATIONS + offset)),
  };
}

/** What the database does with a category it does not know. */
function categoryAt(category: string): number {
  const at = (failure_categories as readonly string[]).indexOf(category);
  return at < 0 ? 0 : at;
}
