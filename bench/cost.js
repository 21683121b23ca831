// @ts-check
// What a task costs its Postgres: bytes of WAL, bytes of tables and indexes, transactions, and how many connections a worker holds. These are counts and
// no rates, so a busy machine measures them as well as a quiet one. docs/scale.md reckons with them. `node bench/cost.js [--tasks n]`, after a build.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRegistry, defineHandler, defineJob, openEngine, startWorker } from "../dist/index.js";
import { startServer } from "./server.js";

const { values } = parseArgs({ options: { tasks: { type: "string", default: "200000" } } });
const tasks = Number(values.tasks);
if (!Number.isInteger(tasks) || tasks < 1000) throw new Error("--tasks: a whole number of at least 1000");

const noop = defineHandler("cost.noop", {}, () => ({ ok: true }));
const wide = defineJob({
  type: "cost_wide",
  stages: [{ name: "all", task: "cost.noop", tasks: { count: "{parameters.n}" } }],
});
const single = defineJob({ type: "cost_single", stages: [{ name: "one", task: "cost.noop" }] });

/** @typedef {Awaited<ReturnType<typeof openEngine>>} Engine */

/** @type {Record<string, { n: number, give: (engine: Engine, n: number) => Promise<unknown> }>} */
const shapes = {
  "tasks of a wide stage": { n: tasks, give: (engine, n) => engine.submit(wide, { n }) },
  "lone tasks, 1,000 a call": {
    n: Math.ceil(tasks / 4),
    give: (engine, n) =>
      inChunks(n, (count, from) =>
        engine.enqueueMany(
          "cost.noop",
          Array.from({ length: count }, (_, i) => ({ parameters: { n: from + i } })),
        ),
      ),
  },
  "jobs of one task, 1,000 a call": {
    n: Math.ceil(tasks / 10),
    give: (engine, n) =>
      inChunks(n, (count, from) =>
        engine.submitMany(
          "cost_single",
          Array.from({ length: count }, (_, i) => ({ parameters: { n: from + i } })),
        ),
      ),
  },
};

/** @param {number} n @param {(count: number, from: number) => Promise<unknown>} give */
async function inChunks(n, give) {
  for (let from = 0; from < n; from += 1000) await give(Math.min(1000, n - from), from);
}

const folder = mkdtempSync(join(tmpdir(), "fanfold-cost-"));
const server = await startServer();
try {
  await server.admin.unsafe("create database cost");
  const registry = createRegistry({ handlers: [noop], jobs: [wide, single] });
  const engine = await openEngine({ database_url: server.url("cost"), registry, storage_dir: folder, migrate: true });
  const worker = await startWorker(engine, { slots: 8 });
  say(`Postgres ${server.version}; of each task of ${Object.keys(shapes).length} shapes, with what vacuum writes:`);
  for (const [shape, { n, give }] of Object.entries(shapes)) {
    const before = await counted(engine);
    await give(engine, n);
    for (;;) {
      const [{ done }] = await engine.db.sql`
        select (select count(*) from app.results) - ${before.results}::bigint >= ${n}::bigint as done`;
      if (done) break;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    // What vacuum and hint bits write later belongs to it as well.
    await engine.db.script("vacuum (analyze)");
    const after = await counted(engine);
    const each = (/** @type {"wal" | "bytes" | "commits"} */ what) => (after[what] - before[what]) / n;
    say(
      `${shape} (${n}): ${each("wal").toFixed(0)} B of WAL, ${each("bytes").toFixed(0)} B of tables and indexes, ` +
        `${(each("commits") * 1000).toFixed(0)} transactions per 1,000`,
    );
  }
  const with_worker = await connections(engine);
  await worker.stop();
  say(`connections of one worker: ${with_worker - (await connections(engine))}`);
  await engine.close();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}

/** @param {Engine} engine */
async function connections(engine) {
  const [row] = await engine.db.sql`select count(*)::int as n from pg_stat_activity where datname = 'cost'`;
  return /** @type {{ n: number }} */ (row).n;
}

/** @param {Engine} engine */
async function counted(engine) {
  const [row] = await engine.db.sql`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal,
      (select sum(pg_total_relation_size(c.oid))::float8 from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'app' and c.relkind = 'r') as bytes,
      (select count(*)::int from app.results) as results,
      (select xact_commit::float8 from pg_stat_database where datname = 'cost') as commits`;
  return /** @type {{ wal: number, bytes: number, results: number, commits: number }} */ (row);
}
