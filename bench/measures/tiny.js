// @ts-check
// Many tiny jobs of two tasks each: how fast they are submitted, and how fast they are run to their end once a worker
// starts. Peers have no such thing; the durable-step engines of the field manage about 1,500 workflows a second.
import { haveRun, inCell } from "../cell.js";

const WARM_UP = 500;

/** @param {import("../cell.js").Bench} bench @param {import("./drain.js").Entry} entry @param {{ n: number }} setup */
export function tinyJobs(bench, { contender, kind }, { n }) {
  return inCell(bench, contender, async (cell) => {
    const producer = await cell.child();
    const worker = await cell.child();
    const run = async (/** @type {number} */ jobs) => {
      const submitted = await producer.call("create", { kind, n: jobs });
      await producer.call("analyze");
      const done = haveRun([worker], 2 * jobs);
      const started = performance.now();
      await Promise.all([worker.call("start", { kind, connections: null }), done]);
      await producer.call("settle", { kind });
      const ms = performance.now() - started;
      await worker.call("stop");
      return { submitted: jobs / (submitted.ms / 1000), completed: jobs / (ms / 1000) };
    };
    await run(Math.min(n, WARM_UP));
    const { submitted, completed } = await run(n);
    const { value: used } = await worker.call("usage");
    await producer.call("verify", { kind });
    return { value: completed, details: { submitted_per_s: submitted, rss_mb: used.rss_mb } };
  });
}
