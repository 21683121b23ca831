// Counts of jobs for those who watch them: the same question of several at once is asked once, and an answer that took long to find
// is told again for a while, so that counting never takes more than a twentieth of the time.
import { performance } from "node:perf_hooks";
import type { Engine } from "../engine/engine.js";
import type { JobCounts, JobFilter } from "../engine/records.js";

/** What takes a look at fewer is counted anew for everybody. */
const FEW = 10_000;
const LONGEST_MS = 5_000;
const MOST = 500;

interface Counted {
  answer: Promise<JobCounts>;
  /** Infinity while it is being counted. */
  until: number;
}

export class CountedJobs {
  readonly #known = new Map<string, Counted>();

  of(engine: Engine, filter: JobFilter): Promise<JobCounts> {
    const name = JSON.stringify([engine.tenant, filter]);
    const known = this.#known.get(name);
    if (known !== undefined && performance.now() < known.until) return known.answer;
    const began = performance.now();
    const counted: Counted = { answer: engine.queries.countJobs(filter), until: Number.POSITIVE_INFINITY };
    this.#known.delete(name);
    this.#known.set(name, counted);
    const forget = () => {
      if (this.#known.get(name) === counted) this.#known.delete(name);
    };
    counted.answer.then(({ examined }) => {
      const took_ms = performance.now() - began;
      if (examined < FEW) return forget();
      counted.until = performance.now() + Math.min(20 * took_ms, LONGEST_MS);
    }, forget);
    for (const [oldest] of this.#known) {
      if (this.#known.size <= MOST) break;
      this.#known.delete(oldest);
    }
    return counted.answer;
  }
}
