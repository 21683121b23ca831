// @ts-check
// One tenant has a great backlog of tasks of 100 ms; another sends one task at a time. How long does that one wait until its
// handler starts?
import { percentile } from "../statistics.js";

const TASK_MS = 100;
const SLOTS = 8;
const GOAL_MS = 2000;

/** @param {import("./place.js").Place} place @param {{ n?: number, samples?: number }} options
 * @returns {Promise<import("./main.js").Found>} */
export async function fairness(place, { n = 100_000, samples = 100 }) {
  const { say } = place;
  const big = await place.key("big");
  const small = await place.key("small");
  const server = await place.start("server");
  const load = await place.start("load");
  const { url } = server.ready;
  say(`one tenant queues ${n.toLocaleString("en")} tasks of ${TASK_MS} ms`);
  for (let from = 0; from < n; from += 1000) {
    const items = Array.from({ length: Math.min(1000, n - from) }, () => ({ parameters: { ms: TASK_MS } }));
    await enqueue(url, big, items);
  }
  const worker = await place.start("worker", { slots: SLOTS });
  const alone = await waits(url, big, worker, 1, { urgent: true });
  say(`the other sends ${samples}, one at a time, to a worker with ${SLOTS} slots`);
  const behind = await waits(url, small, worker, samples);
  await worker.stop();
  await load.stop();
  const p95 = percentile(behind, 95);
  const row = {
    what: `wait of the small tenant behind ${n.toLocaleString("en")}, p95`,
    value: p95,
    unit: "ms",
    wanted: `< ${GOAL_MS} ms`,
    met: p95 < GOAL_MS,
    more: `p50 ${percentile(behind, 50).toFixed(0)} ms, max ${Math.max(...behind).toFixed(0)} ms`,
  };
  const own = { what: "a task of the big tenant, sent with urgency", value: alone[0] ?? Number.NaN, unit: "ms" };
  return { title: "Fairness between tenants", rows: [row, own], notes: [] };
}

/**
 * From the call to the start of the handler, one task after another.
 * @param {string} url @param {string} key @param {import("./place.js").Running} worker @param {number} samples
 * @param {{ urgent?: boolean, ms?: number, pause_ms?: number }} [options]
 */
export async function waits(url, key, worker, samples, { urgent = false, ms = TASK_MS, pause_ms = 20 } = {}) {
  /** @type {number[]} */
  const waited = [];
  for (let i = 0; i < samples; i++) {
    /** @type {Promise<number>} */
    const started = new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("a task did not start within two minutes")), 120_000);
      worker.onTold(({ waited_ms }) => {
        clearTimeout(late);
        resolve(waited_ms);
      });
    });
    const at = String(process.hrtime.bigint());
    await enqueue(url, key, [{ parameters: { ms, at }, ...(urgent ? { priority: 1 } : {}) }]);
    waited.push(await started);
    // Uneven, so that no timer falls into step with it.
    await new Promise((resolve) => setTimeout(resolve, pause_ms + ((i * 7) % 61)));
  }
  return waited;
}

/** @param {string} url @param {string} key @param {object[]} items */
async function enqueue(url, key, items) {
  const answer = await fetch(`${url}/api/tasks/enqueue/bench.sleep`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ items }),
  });
  if (answer.status !== 201) throw new Error(`enqueue was answered with ${answer.status}: ${await answer.text()}`);
}
