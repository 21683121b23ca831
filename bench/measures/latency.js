// @ts-check
// From the moment of sending to the first line of the handler, one at a time, with a worker that is idle in between.
import { inCell } from "../cell.js";
import { percentile } from "../statistics.js";

const WARM_UP = 20;

/** @param {import("../cell.js").Bench} bench @param {import("./drain.js").Entry} entry @param {{ n: number }} setup */
export function latency(bench, { contender, kind }, { n }) {
  return inCell(bench, contender, async (cell) => {
    const producer = await cell.child();
    const worker = await cell.child();
    await worker.call("start", { kind, connections: null });
    /** @type {number[]} */
    const lags = [];
    for (let i = 0; i < n + WARM_UP; i++) {
      /** @type {Promise<number>} */
      const lag = new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error("a task sent to an idle worker did not start for 30 s")),
          30_000,
        );
        worker.on_start((value) => {
          clearTimeout(late);
          resolve(value);
        });
      });
      const [, value] = await Promise.all([producer.call("send", { kind }), lag]);
      if (i >= WARM_UP) lags.push(value);
      // Long enough to be idle again; uneven, so that no contender's timer falls into step with it.
      await new Promise((resolve) => setTimeout(resolve, 20 + ((i * 7) % 23)));
    }
    await worker.call("stop");
    return {
      value: percentile(lags, 95),
      details: { p50: percentile(lags, 50), p99: percentile(lags, 99) },
    };
  });
}
