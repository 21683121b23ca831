// @ts-check
// Fanning out and folding: from the call that asks for it, with a worker already waiting, until the fold is committed.
import { haveRun, inCell } from "../cell.js";

const WARM_UP = 2000;

/** @param {import("../cell.js").Bench} bench @param {import("./drain.js").Entry} entry @param {{ n: number }} setup */
export function fold(bench, { contender, kind }, { n }) {
  return inCell(bench, contender, async (cell) => {
    const producer = await cell.child();
    const worker = await cell.child();
    await worker.call("start", { kind, connections: null });
    const once = async (/** @type {number} */ width) => {
      const done = haveRun([worker], width + 1);
      const started = performance.now();
      await Promise.all([producer.call("create", { kind, n: width }), done]);
      await producer.call("settle", { kind });
      return performance.now() - started;
    };
    await once(Math.min(n, WARM_UP));
    await producer.call("analyze");
    // The warm-up ends in step with whatever timer a contender folds by: the run must not profit from that.
    await new Promise((resolve) => setTimeout(resolve, 1000 * Math.random()));
    const ms = await once(n);
    const { value: used } = await worker.call("usage");
    await worker.call("stop");
    await producer.call("verify", { kind });
    return { value: ms, details: { rss_mb: used.rss_mb } };
  });
}
