// @ts-check
// Draining queued no-op tasks: the clock runs from telling the workers to start until the last handler has run and
// everything is committed. Workers have drained a few thousand before, so that code, plans and connections are warm.
import { haveRun, inCell } from "../cell.js";

const WARM_UP = 3000;

/** @typedef {{ contender: string, kind: import("../contenders/index.js").Kind, n?: number }} Entry */

/**
 * @param {import("../cell.js").Bench} bench
 * @param {Entry} entry
 * @param {{ n: number, processes: number, connections: number | null }} setup connections = per process
 */
export function drain(bench, { contender, kind }, { n, processes, connections }) {
  return inCell(bench, contender, (cell) => drainIn(cell, { kind, n, processes, connections }));
}

/**
 * @param {import("../cell.js").Cell} cell
 * @param {{ kind: import("../contenders/index.js").Kind, n: number, processes: number, connections: number | null }} setup
 */
export async function drainIn(cell, { kind, n, processes, connections }) {
  const producer = await cell.child();
  const workers = await Promise.all(Array.from({ length: processes }, () => cell.child()));
  const everyone = (/** @type {string} */ verb) =>
    Promise.all(workers.map((worker) => worker.call(verb, { kind, connections })));

  const warm_up = Math.min(n, WARM_UP);
  await producer.call("create", { kind, n: warm_up });
  await producer.call("stop");
  const warm = haveRun(workers, warm_up);
  await everyone("start");
  await warm;
  await producer.call("settle", { kind });
  await everyone("stop");

  const created = await producer.call("create", { kind, n });
  // A producer may have needed a worker to plan: what drains is only what was asked to.
  await producer.call("stop");
  await producer.call("analyze");
  const before = await usage(workers);
  const done = haveRun(workers, n);
  const started = performance.now();
  await Promise.all([everyone("start"), done]);
  await producer.call("settle", { kind });
  const ms = performance.now() - started;
  const after = await usage(workers);
  await everyone("stop");
  await producer.call("verify", { kind });
  await cell.retire([producer, ...workers]);
  return {
    value: n / (ms / 1000),
    details: {
      rss_mb: Math.max(...after.map(({ rss_mb }) => rss_mb)),
      cpu_ms_per_1000: (sum(after, "cpu_ms") - sum(before, "cpu_ms")) / (n / 1000),
      queued_per_s: n / (created.ms / 1000),
    },
  };
}

/** @param {import("../processes.js").Child[]} workers @returns {Promise<{ rss_mb: number, cpu_ms: number }[]>} */
const usage = (workers) => Promise.all(workers.map(async (worker) => (await worker.call("usage")).value));

/** @param {{ rss_mb: number, cpu_ms: number }[]} usages @param {"rss_mb" | "cpu_ms"} of */
const sum = (usages, of) => usages.reduce((total, each) => total + each[of], 0);
