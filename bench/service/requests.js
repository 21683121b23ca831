// @ts-check
// Requests of three jobs of one task each, beside the same three jobs submitted one by one with depends_on: from the first submit to the last
// end, with one worker, in turns, in one run.
import { setTimeout as sleep } from "node:timers/promises";
import { openEngine } from "../../dist/index.js";
import { median } from "../statistics.js";
import { benchRegistry, request_jobs } from "./registry.js";

const GOAL = 0.6;
const ROUNDS = 3;

/** @param {import("./place.js").Place} place @param {{ n?: number, callers?: number }} options
 * @returns {Promise<import("./main.js").Found>} */
export async function requests(place, { n = 1000, callers = 8 }) {
  const { say } = place;
  const { database_url, storage_dir } = place;
  const engine = await openEngine({ database_url, storage_dir, registry: benchRegistry(), connections: callers });
  const worker = await place.start("worker", { slots: 16 });
  let number = 0;
  const ways = {
    requests: {
      /** @param {number} i */
      one: (i) =>
        engine.requests.submit({ dataset_id: `d${i}`, resource_id: "r", version_id: "1", data_type: "three" }),
      ended: () => place.db.sql`select count(*)::int as n from platform.requests where status = 'completed'`,
    },
    depends_on: {
      /** @param {number} i */
      async one(i) {
        /** @type {string[]} */
        let depends_on = [];
        for (const type of request_jobs) depends_on = [(await engine.submit(type, { i }, { depends_on })).job_id];
      },
      ended: () => place.db.sql`
        select count(*)::int as n from app.jobs where request_id is null and job_type = ${request_jobs[2]} and status = 'completed'`,
    },
  };
  /** @param {"requests" | "depends_on"} name @param {number} count */
  const run = async (name, count) => {
    const { one, ended } = ways[name];
    const there = async () => Number((await ended())[0]?.n);
    const before = await there();
    const first = number;
    number += count;
    const started = performance.now();
    let next = first;
    const caller = async () => {
      while (next < first + count) await one(next++);
    };
    await Promise.all(Array.from({ length: callers }, caller));
    const submitted_s = (performance.now() - started) / 1000;
    while ((await there()) < before + count) await sleep(10);
    return { per_s: (count * 1000) / (performance.now() - started), submitted_per_s: count / submitted_s };
  };
  try {
    /** @type {Record<"requests" | "depends_on", { per_s: number, submitted_per_s: number }[]>} */
    const found = { requests: [], depends_on: [] };
    const names = /** @type {const} */ (["requests", "depends_on"]);
    for (const name of names) await run(name, Math.min(n, 100));
    await place.analyze();
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of round % 2 === 0 ? names : [...names].reverse()) {
        const one = await run(name, n);
        found[name].push(one);
        say(`${name} ${round + 1}/${ROUNDS}: ${one.per_s.toFixed(0)}/s`);
      }
    }
    const rate = (/** @type {"requests" | "depends_on"} */ name) => median(found[name].map(({ per_s }) => per_s));
    const submits = (/** @type {"requests" | "depends_on"} */ name) =>
      `submitted ${median(found[name].map(({ submitted_per_s }) => submitted_per_s)).toFixed(0)}/s; rounds ${found[name].map(({ per_s }) => per_s.toFixed(0)).join(", ")}`;
    const ratio = rate("requests") / rate("depends_on");
    return {
      title: `${n.toLocaleString("en")} requests of three jobs of one task, ${callers} callers, one worker, medians of ${ROUNDS}`,
      rows: [
        { what: "requests, from submit to end", value: rate("requests"), unit: "/s", more: submits("requests") },
        { what: "the same jobs with depends_on", value: rate("depends_on"), unit: "/s", more: submits("depends_on") },
        { what: "requests to jobs with depends_on", value: ratio, unit: "×", wanted: `≥ ${GOAL}`, met: ratio >= GOAL },
      ],
      notes: [],
    };
  } finally {
    await worker.stop();
    await engine.close();
  }
}
