// Years of tasks in and out: while jobs come, run and go by rule, tables and indexes stay as large as what is kept, no table of the hot path
// is read as a whole, and what is alive is untouched. FANFOLD_RETENTION_TASKS says how many tasks (default: 20 million).
// And what letting go costs those who work meanwhile: FANFOLD_RETENTION_OLD says how many old tasks there are (default: 10 million).
import { readFileSync } from "node:fs";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { Retention } from "../../src/engine/upkeep/retention.js";
import { freshDatabase } from "../postgres.js";
import { drain, expectSound, register, submit } from "./floor.js";

const total = Number(process.env.FANFOLD_RETENTION_TASKS ?? 20_000_000);
const per_job = 100_000;
const jobs = Math.max(6, Math.round(total / per_job));
const stage = [{ name: "wide", task: "t.wide", plan: { count: per_job } }];

test(`${jobs} jobs of ${per_job} tasks in and out leave tables as large as what is kept`, async () => {
  const { db, drop } = await freshDatabase({ own: true });
  try {
    const worker = await register(db, ["t.wide"], 86_400);
    // Kept for ever, and not to be touched.
    const { job_id: keeper } = await submit(
      db,
      [{ name: "only", task: "t.wide", plan: { count: 500 } }],
      {},
      { type: "keeper" },
    );
    await db.sql`select app.change_retention('{"rules": [{"kind": "jobs", "keep_s": 0}, {"kind": "jobs", "type": "keeper"}]}')`;
    const bytes: number[] = [];
    let removed_rows = 0;
    for (let number = 0; number < jobs; number++) {
      const { job_id } = await submit(db, stage, { number }, { type: "wide" });
      let over = false;
      const letting_go = (async () => {
        while (!over) ({ rows: removed_rows } = add(removed_rows, await Retention.now(db)));
      })();
      await drain(db, worker, ["t.wide"]);
      over = true;
      await letting_go;
      const [job] = await db.sql<{ status: string }>`select status::text from app.jobs where job_id = ${job_id}`;
      expect(job === undefined || job.status === "completed", `job ${number} ended well`).toBe(true);
      // Autovacuum looks once a minute; a round here takes seconds and stands for days.
      for (const table of ["tasks", "results"]) await db.script(`vacuum app.${table}`);
      const [size] = await db.sql<{ bytes: number }>`
        select sum(pg_total_relation_size(('app.' || t)::regclass))::float8 as bytes
          from unnest(array['tasks', 'results', 'ready', 'claims', 'stage_progress', 'stages', 'jobs', 'events', 'removed_stages']) t`;
      bytes.push(size!.bytes);
      if (number % 10 === 9)
        process.stderr.write(
          `retention: ${(number + 1) * per_job} tasks in, ${removed_rows} out, ${(size!.bytes / 1e6).toFixed(0)} MB\n`,
        );
    }
    removed_rows += (await Retention.now(db)).rows;
    expect(removed_rows).toBe(jobs * per_job);
    const [kept] = await db.sql<{ tasks: number; status: string }>`
      select (select count(*)::int from app.tasks) as tasks, status::text from app.jobs where job_id = ${keeper}`;
    expect(kept).toEqual({ tasks: 500, status: "completed" });
    // A size is that of one job or of two, as the last one is still there or not: many rounds are compared with many.
    const first_rounds = Math.max(...bytes.slice(0, Math.max(5, Math.round(jobs / 4))));
    expect(Math.max(...bytes) / first_rounds, "the largest size beside that of the first quarter").toBeLessThan(1.3);
    const scanned = await db.sql<{ relname: string; seq_tup_read: number }>`
      select relname::text, seq_tup_read::float8 from pg_stat_user_tables
       where schemaname = 'app' and relname in ('tasks', 'results') and seq_tup_read > 2000`;
    expect(scanned).toEqual([]);
    const peak = Math.max(...bytes);
    process.stderr.write(
      `retention: ${jobs * per_job} tasks in and out on ${(peak / 1e6).toFixed(0)} MB of tables and indexes, ` +
        `${(first_rounds / 1e6).toFixed(0)} MB in the first quarter\n`,
    );
    await expectSound(db);
  } finally {
    await drop();
  }
});

const old = Number(process.env.FANFOLD_RETENTION_OLD ?? 10_000_000);
const turns = 12;

test(`a drain while ${old} old tasks are let go costs what it costs without that, within 5 %`, async () => {
  const { db, url, drop } = await freshDatabase({ own: true });
  // A connection of its own, as a worker's housekeeping has one.
  const beside = openServer(url, { max: 1, application_name: "retention" });
  try {
    const worker = await register(db, ["t.wide"], 86_400);
    await db.sql`select app.change_retention('{"rules": [{"kind": "jobs"}]}')`;
    for (let number = 0; number < old / per_job; number++) {
      await submit(db, stage, { number }, { type: "old" });
      await drain(db, worker, ["t.wide"]);
      if (number % 10 === 9) process.stderr.write(`retention: ${(number + 1) * per_job} old tasks made\n`);
    }
    await db.script("vacuum analyze");
    await db.sql`select app.change_retention('{"rules": [{"kind": "jobs"}, {"kind": "jobs", "type": "old", "keep_s": 0}]}')`;
    const left = async () => {
      const [row] = await db.sql<{ n: number }>`
        select coalesce(sum(s.hi - s.lo), 0)::float8 + ${per_job}::float8 * (select count(*) from app.jobs where job_type = 'old') as n
          from app.removed_stages s`;
      return row!.n;
    };
    const ended: Record<"with" | "without", { ms: number; cpu_s: number }[]> = { with: [], without: [] };
    const at_first = await left();
    for (let turn = 0; turn < turns; turn++) {
      for (const kind of turn % 2 === 0 ? (["without", "with"] as const) : (["with", "without"] as const)) {
        await submit(db, stage, { turn, kind }, { type: "new" });
        const retention = new Retention({ db: beside, log: pino({ level: "silent" }), idle_ms: 1 });
        await beside.sql`select app.retire_again()`;
        const [cpu_before, began] = [await cpuSeconds(db), performance.now()];
        if (kind === "with") retention.start();
        await drain(db, worker, ["t.wide"]);
        await retention.stop();
        ended[kind].push({ ms: performance.now() - began, cpu_s: (await cpuSeconds(db)) - cpu_before });
      }
    }
    const at_last = await left();
    const ratioOf = (read: (one: { ms: number; cpu_s: number }) => number) =>
      median(ended.with.map((one, turn) => read(one) / read(ended.without[turn]!)));
    const [time, cpu] = [ratioOf(({ ms }) => ms), ratioOf(({ cpu_s }) => cpu_s)];
    const rate = (kind: "with" | "without") => Math.round(per_job / (median(ended[kind].map(({ ms }) => ms)) / 1000));
    process.stderr.write(
      `retention: ${rate("with")} tasks a second while ${at_first - at_last} of ${at_first} old ones were let go, ${rate("without")} without; ` +
        `with beside without in turns: ${time.toFixed(3)} of the time, ${cpu.toFixed(3)} of the CPU (medians of ${turns})\n`,
    );
    expect(at_last, "old tasks there still were to let go until the end").toBeGreaterThan(0);
    expect(at_last).toBeLessThan(at_first);
    // Time is what callers feel, and on a machine that others use it says how busy these were: CPU is what they would be kept from.
    expect(cpu).toBeLessThan(1.05);
  } finally {
    await beside.close();
    await drop();
  }
});

/** Of this process and of all that serve its database. */
async function cpuSeconds(db: Database): Promise<number> {
  const backends = await db.sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database()`;
  const { user, system } = process.cpuUsage();
  const ticks = backends.reduce((sum, { pid }) => {
    const [, fields] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ") as [string, string];
    const [utime, stime] = fields.split(" ").slice(11, 13).map(Number) as [number, number];
    return sum + utime + stime;
  }, 0);
  return (user + system) / 1e6 + ticks / 100;
}

function median(of: number[]): number {
  const sorted = of.toSorted((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.floor(sorted.length / 2)]!) / 2;
}

function add(rows: number, done: { rows: number }): { rows: number } {
  return { rows: rows + done.rows };
}
