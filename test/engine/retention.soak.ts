// Years of tasks in and out: while jobs come, run and go by rule, tables and indexes stay as large as what is kept, no table of the hot path
// is read as a whole, and what is alive is untouched. FANFOLD_RETENTION_TASKS says how many tasks (default: 20 million).
import { expect, test } from "vitest";
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
    await expectSound(db);
  } finally {
    await drop();
  }
});

function add(rows: number, done: { rows: number }): { rows: number } {
  return { rows: rows + done.rows };
}
