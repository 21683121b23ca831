// @ts-check
// Creating tasks in bulk: timed inside the producer, after it has created a few thousand others.
import { inCell } from "../cell.js";

const WARM_UP = 5000;

/** @param {import("../cell.js").Bench} bench @param {import("./drain.js").Entry} entry @param {{ n: number }} setup */
export function create(bench, { contender, kind }, { n }) {
  return inCell(bench, contender, async (cell) => {
    const producer = await cell.child();
    await producer.call("create", { kind, n: Math.min(n, WARM_UP) });
    await producer.call("analyze");
    const { ms } = await producer.call("create", { kind, n });
    const { value: used } = await producer.call("usage");
    return { value: n / (ms / 1000), details: { rss_mb: used.rss_mb } };
  });
}
