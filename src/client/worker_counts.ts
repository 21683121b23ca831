// What a worker over HTTP has counted since it registered, by task type; sent with heartbeats where it has changed.
import type { WorkTypeCounts } from "../core/api/work.js";
import { readCounts, Tally } from "../core/task/work_counts.js";

export class WorkerCounts {
  readonly #tallies = new Map<string, { tally: Tally; told: number }>();

  of(task_type: string): Tally {
    let found = this.#tallies.get(task_type);
    if (found === undefined) {
      found = { tally: new Tally(), told: 0 };
      this.#tallies.set(task_type, found);
    }
    return found.tally;
  }

  /** Those that have changed since `told` was last called, and what to call once they have arrived. */
  changed(): { counts: Record<string, WorkTypeCounts> | undefined; told: () => void } {
    const totals = new Map<{ told: number }, number>();
    const counts: Record<string, WorkTypeCounts> = {};
    for (const [type, entry] of this.#tallies) {
      const { total } = entry.tally;
      if (total === entry.told) continue;
      totals.set(entry, total);
      counts[type] = readCounts([...entry.tally.counts]);
    }
    const told = () => {
      for (const [entry, total] of totals) entry.told = total;
    };
    return { counts: totals.size === 0 ? undefined : counts, told };
  }
}
