// Counts jobs for callers that watch them. Callers with the same question share one count, and a count that took long is returned
// again for a while, so that counting never takes more than a twentieth of the time.
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";
import type { Engine } from "../../engine/engine.js";
import type { JobCounts, JobFilter } from "../../engine/verbs/records.js";

/** A count that examines fewer jobs is made anew for every caller. */
const FEW = 10_000;
const LONGEST_MS = 5_000;
const MOST = 500;

export class CountedJobs {
  readonly #known = new LRUCache<string, JobCounts, { engine: Engine; filter: JobFilter }>({
    max: MOST,
    ttl: LONGEST_MS,
    ignoreFetchAbort: true,
    fetchMethod: async (_name, _known, { options, context: { engine, filter } }) => {
      const began = performance.now();
      const counts = await engine.queries.countJobs(filter);
      // A time below zero: the answer is only for the callers that waited for it.
      options.ttl = counts.examined < FEW ? -1 : Math.min(20 * (performance.now() - began), LONGEST_MS);
      return counts;
    },
  });

  of(engine: Engine, filter: JobFilter): Promise<JobCounts> {
    return this.#known.forceFetch(JSON.stringify([engine.tenant, filter]), { context: { engine, filter } });
  }
}
