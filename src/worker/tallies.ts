// The counts of one life of a worker, by task type, and which of them the database has not been told.
import { Tally } from "../core/work_counts.js";

export type ToldCounts = [task_type: string, counts: number[]];

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
