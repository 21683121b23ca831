// What a worker has done: since it started, for tests, logs and the command line; and in one life, by task type, for the database.
import { Tally } from "../core/task/work_counts.js";

export class Stats {
  claims = 0;
  empty_claims = 0;
  claimed = 0;
  largest_batch = 0;
  completed = 0;
  failed = 0;
  retried = 0;
  refused = 0;
  released = 0;
  /** Outcomes that were not sent, because the task was lost or the lease over. */
  dropped = 0;
  /** Results that came after their task had been given up. */
  late = 0;
  timed_out = 0;
  planned = 0;
  fenced = 0;
  /** What the janitor found that should not be. */
  alerts = 0;
}

export type ToldCounts = [task_type: string, counts: number[]];

/** The counts of one life, and which of them the database does not have. */
export class Tallies {
  readonly #tallies = new Map<string, Tally>();
  readonly #told = new Map<string, number>();

  of(task_type: string): Tally {
    let tally = this.#tallies.get(task_type);
    if (tally === undefined) {
      tally = new Tally();
      this.#tallies.set(task_type, tally);
    }
    return tally;
  }

  /** Everything that has changed since it was last told; `told` is called when the database has it. */
  untold(): { counts: ToldCounts[]; told(): void } {
    const counts: ToldCounts[] = [];
    const totals = new Map<string, number>();
    for (const [task_type, tally] of this.#tallies) {
      const { total } = tally;
      if (this.#told.get(task_type) === total) continue;
      counts.push([task_type, Array.from(tally.counts, (count) => Math.round(count * 1e6) / 1e6)]);
      totals.set(task_type, total);
    }
    return {
      counts,
      told: () => {
        for (const [task_type, total] of totals) this.#told.set(task_type, total);
      },
    };
  }
}
