// @ts-check
// Whether a long past slows the present: the same drain in a database with a history of finished tasks and in one with
// none, interleaved; and whether a drain reads the past (seq_scan) or leaves work for vacuum (n_dead_tup).
import postgres from "postgres";
import { haveRun, inCell } from "../cell.js";
import { untilDone } from "../contenders/index.js";
import { drainIn } from "./drain.js";

const TABLES = ["tasks", "results"];

/** @typedef {Record<string, { seq_scan: number, n_dead_tup: number }>} TableStatistics */

/**
 * Runs all rounds itself: the database with the history is made once and grows by one drain a round.
 * @param {import("../cell.js").Bench} bench
 * @param {import("./drain.js").Entry} entry
 * @param {{ n: number, history: number, rounds: number }} setup
 */
export function drainsWithHistory(bench, { contender, kind }, { n, history, rounds }) {
  const setup = { kind, n, processes: 1, connections: null };
  return inCell(bench, contender, async (past) => {
    bench.say(`  making a history of ${history} finished tasks`);
    await makeHistory(past, kind, history);
    await vacuum(past);
    const none = [];
    const some = [];
    for (let round = 1; round <= rounds; round++) {
      bench.say(`  round ${round} of ${rounds}`);
      none.push(await inCell(bench, contender, (cell) => drainIn(cell, setup)));
      const before = await tableStatistics(past);
      const drained = await drainIn(past, setup);
      some.push({ ...drained, details: { ...drained.details, ...rise(before, await tableStatistics(past)) } });
    }
    return { none, some };
  });
}

/** In stages (or bulks) of at most 100,000, through the engine itself. @param {import("../cell.js").Cell} cell
 * @param {import("../contenders/index.js").Kind} kind @param {number} history */
async function makeHistory(cell, kind, history) {
  const producer = await cell.child();
  const worker = await cell.child();
  await worker.call("start", { kind, connections: null });
  for (let made = 0; made < history; made += 100_000) {
    const n = Math.min(100_000, history - made);
    const done = haveRun([worker], n);
    await Promise.all([producer.call("create", { kind, n }), done]);
    await producer.call("settle", { kind });
  }
  await worker.call("stop");
  await cell.retire([producer, worker]);
}

/** What autovacuum would have done with a past that is not seconds old. @param {import("../cell.js").Cell} cell */
async function vacuum(cell) {
  const sql = postgres(cell.url, { max: 1, onnotice: () => {} });
  await sql`vacuum (analyze)`;
  await sql.end();
}

/** A backend hands in its counts at the latest when it ends: the drain's processes are gone, their backends soon are.
 * @param {import("../cell.js").Cell} cell @returns {Promise<TableStatistics>} */
async function tableStatistics(cell) {
  const sql = postgres(cell.url, { max: 1, onnotice: () => {} });
  await untilDone(async () => {
    const [row] = await sql`
      select count(*)::int as others from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
    return row?.others === 0;
  });
  const rows = await sql`
    select relname, seq_scan::float8, n_dead_tup::float8
    from pg_stat_user_tables where schemaname = 'app' and relname in ${sql(TABLES)}`;
  await sql.end();
  return Object.fromEntries(rows.map(({ relname, seq_scan, n_dead_tup }) => [relname, { seq_scan, n_dead_tup }]));
}

/** @param {TableStatistics} before @param {TableStatistics} after @returns {Record<string, number>} */
function rise(before, after) {
  /** @type {Record<string, number>} */
  const risen = {};
  for (const table of TABLES) {
    risen[`${table}_seq_scan_rise`] = (after[table]?.seq_scan ?? Number.NaN) - (before[table]?.seq_scan ?? Number.NaN);
    risen[`${table}_dead_rise`] = (after[table]?.n_dead_tup ?? Number.NaN) - (before[table]?.n_dead_tup ?? Number.NaN);
  }
  return risen;
}
