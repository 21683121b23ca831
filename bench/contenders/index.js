// @ts-check
// The contenders and the one small interface they stand behind. A contender's library is loaded by its `open` and
// `prepare` only, in a child process, so that the parent stays small and no contender pays for another.

/**
 * What a task is in each kind of work:
 * - `lone`: tasks created in bulk, each on its own
 * - `lone_single`: the same, enqueued one by one by many callers at once
 * - `wide`: one stage of n tasks, results stored
 * - `tiny`: n jobs of two tasks each
 * - `idle_task`, `idle_job`: one task, or one job of one task, sent to a worker that has nothing to do
 * - `fold`: fan out to n tasks, then one task that waits for all of them
 * @typedef {"lone" | "lone_single" | "wide" | "tiny" | "idle_task" | "idle_job" | "fold"} Kind
 *
 * @typedef {object} Notes what a handler tells the benchmark
 * @property {(count?: number) => void} ran
 * @property {(sent_at: string) => void} started for `idle_*`: the moment of sending, by the machine's monotonic clock
 *
 * @typedef {object} Session
 * @property {(work: { kind: Kind, n: number }) => Promise<void>} create queue n tasks (for `tiny`, n jobs)
 * @property {(work: { kind: Kind, connections: number | null }) => Promise<void>} start a worker; null connections = its best
 * @property {() => Promise<void>} stop the worker, gracefully
 * @property {() => Promise<void>} analyze what autovacuum would have done in a database that is not seconds old: without
 *   statistics pg-boss loses nine tenths of its rate
 * @property {(work: { kind: Kind }) => Promise<void>} settle resolves when everything created is committed as done
 * @property {(work: { kind: Kind }) => Promise<void>} verify throws unless what this session created is recorded as it should be
 * @property {(work: { kind: Kind }) => Promise<void>} [send] one `idle_*` task
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Contender
 * @property {(url: string) => Promise<void>} prepare an empty database, once; it becomes the template of all others
 * @property {(url: string, notes: Notes) => Promise<Session>} open
 */

/** `ours` decides what a ratio divides; variants are the same library with other settings. */
export const CONTENDERS = [
  { name: "fanfold", title: "Fanfold", ours: true },
  { name: "hand_loop", title: "hand-written loop", ours: false },
  { name: "graphile_worker", title: "graphile-worker", ours: false },
  { name: "pg_boss", title: "pg-boss", ours: false },
  { name: "pg_boss_results", title: "pg-boss, result per job", ours: false },
];

/** @param {string} name @returns {Promise<Contender>} */
export async function contenderModule(name) {
  if (name === "pg_boss_results") return (await import("./pg_boss.js")).with_results;
  if (name === "pg_boss") return (await import("./pg_boss.js")).with_batches;
  return import(`./${name}.js`);
}

/** Calls `work` with each chunk, `at_once` at a time. @param {number} n @param {number} size @param {number} at_once
 * @param {(from: number, to: number) => Promise<unknown>} work */
export async function inChunks(n, size, at_once, work) {
  let next = 0;
  const lane = async () => {
    while (next < n) {
      const from = next;
      next = Math.min(n, from + size);
      await work(from, next);
    }
  };
  await Promise.all(Array.from({ length: at_once }, lane));
}

/** Asks every millisecond: only once the last handler has run, so the answer is a few milliseconds away.
 * @param {() => Promise<boolean>} done */
export async function untilDone(done) {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** @param {number} found @param {number} expected @param {string} what */
export function assertCount(found, expected, what) {
  if (found !== expected) throw new Error(`${what}: expected ${expected}, found ${found}`);
}
