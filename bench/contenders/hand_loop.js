// @ts-check
// The limit: range claims written by hand for this one purpose, with a claim row per batch, the same stored result and a
// progress counter, claim and finish apart. No tenants, no retries, no stages: what the engine's generality is held against.
import postgres from "postgres";
import { assertCount, untilDone } from "./index.js";

const BATCH = 500;
const CONNECTIONS = 3;

/** @param {string} url */
export async function prepare(url) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`create table ready (stage_id bigint primary key, lo int not null, hi int not null, taken_from int)`;
  await sql`
    create table claims (
      claim_id bigint generated always as identity primary key, stage_id bigint not null,
      lo int not null, hi int not null, worker_pid int not null, claimed_at timestamptz not null default now())`;
  await sql`
    create table results (
      stage_id bigint not null, ordinal int not null, status text not null, result jsonb, duration_ms real,
      finished_at timestamptz not null default now(), primary key (stage_id, ordinal))`;
  await sql`create table progress (stage_id bigint primary key, total int not null, remaining int not null) with (fillfactor = 50)`;
  await sql.end();
}

/** @type {import("./index.js").Contender["open"]} */
export async function open(url, notes) {
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  let stage_id = 0;
  /** @type {import("postgres").Sql | null} */
  let sql = null;
  let stopping = false;
  /** @type {Promise<unknown>} */
  let loops = Promise.resolve();

  /** @param {import("postgres").Sql} on */
  async function claim(on) {
    const [held] = await on`
      with moved as (
        update ready set taken_from = lo, lo = least(lo + ${BATCH}, hi)
        where stage_id = (select stage_id from ready where lo < hi order by stage_id limit 1) and lo < hi
        returning stage_id, taken_from, lo
      )
      insert into claims (stage_id, lo, hi, worker_pid)
      select stage_id, taken_from, lo, ${process.pid}::int from moved
      returning claim_id, lo, hi`;
    return held;
  }

  /** @param {import("postgres").Sql} on @param {string} claim_id @param {object[]} done */
  const finish = (on, claim_id, done) => on`
    with held as (
      delete from claims where claim_id = ${claim_id} returning stage_id, lo, hi
    ), stored as (
      insert into results (stage_id, ordinal, status, result, duration_ms)
      select held.stage_id, item.o, 'completed', item.r, item.d
      from held, json_to_recordset(${JSON.stringify(done)}::text::json) as item (o int, r jsonb, d real)
      where item.o >= held.lo and item.o < held.hi
      returning 1
    )
    update progress set remaining = remaining - (select count(*) from stored)
    where stage_id = (select stage_id from held)`;

  /** @param {import("postgres").Sql} on */
  async function loop(on) {
    while (!stopping) {
      const held = await claim(on);
      if (!held) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      const done = [];
      for (let ordinal = held.lo; ordinal < held.hi; ordinal++) {
        const started = performance.now();
        const result = await handler();
        done.push({ o: ordinal, d: Math.round(performance.now() - started), r: result });
      }
      await finish(on, held.claim_id, done);
    }
  }

  async function handler() {
    notes.ran();
    return { ok: true };
  }

  return {
    async create({ n }) {
      const [row] = await admin`select coalesce(max(stage_id), 0) + 1 as stage_id from progress`;
      stage_id = Number(row?.stage_id);
      await admin`insert into progress values (${stage_id}, ${n}, ${n})`;
      await admin`insert into ready values (${stage_id}, 0, ${n})`;
    },
    async start({ connections }) {
      stopping = false;
      const count = connections ?? CONNECTIONS;
      // Kept from the warm-up to the run, so that no contender pays for connecting while the clock runs.
      sql ??= postgres(url, { max: count, onnotice: () => {} });
      const pool = sql;
      loops = Promise.all(Array.from({ length: count }, () => loop(pool)));
      loops.catch((error) => process.stderr.write(`${error}\n`));
    },
    async stop() {
      stopping = true;
      await loops;
    },
    analyze: async () => {
      await admin`analyze`;
    },
    settle: () =>
      untilDone(async () => {
        const [row] = await admin`select remaining from progress where stage_id = ${stage_id}`;
        return row?.remaining === 0;
      }),
    async verify() {
      const [row] = await admin`
        select total, (select count(*)::int from results where stage_id = progress.stage_id) as stored
        from progress where stage_id = ${stage_id}`;
      assertCount(row?.stored, row?.total, "results of the loop");
    },
    async close() {
      stopping = true;
      await loops;
      await sql?.end();
      await admin.end();
    },
  };
}
