// A long history must cost nothing: with 1,000,000 finished tasks in the tables, a drain neither scans tasks and results as a
// whole nor leaves dead rows in them.
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { freshDatabase } from "../postgres.js";
import { runWide } from "./wide.js";

test("with 1,000,000 finished tasks a drain raises neither seq_scan nor n_dead_tup of tasks and results", async () => {
  const { db, url, drop } = await freshDatabase();
  for (let round = 0; round < 10; round++) expect((await runWide(url, 100_000)).status).toBe("completed");
  await db.script("vacuum analyze");
  const before = await wear(db);
  expect(before.tasks).toBeGreaterThanOrEqual(1_000_000);
  expect((await runWide(url, 100_000)).status).toBe("completed");
  const after = await wear(db);
  expect(after.tasks - before.tasks).toBeGreaterThanOrEqual(100_000);
  expect({ seq_scan: after.seq_scan - before.seq_scan, n_dead_tup: after.n_dead_tup - before.n_dead_tup }).toEqual({
    seq_scan: 0,
    n_dead_tup: 0,
  });
  // The proof can fail: a scan is seen.
  await db.sql`select count(*) from app.tasks`;
  expect((await wear(db)).seq_scan).toBeGreaterThan(after.seq_scan);
  await drop();
});

/** Statistics reach the view when their session ends or a second later: asked again until they stand still. */
async function wear(db: Database): Promise<{ tasks: number; seq_scan: number; n_dead_tup: number }> {
  let last = "";
  for (;;) {
    await db.sql`select pg_stat_force_next_flush()`;
    await db.sql`select pg_sleep(1.1)`;
    const [row] = await db.sql<{ tasks: number; seq_scan: number; n_dead_tup: number }>`
      select max(n_live_tup)::integer as tasks, sum(seq_scan)::integer as seq_scan, sum(n_dead_tup)::integer as n_dead_tup
        from pg_stat_user_tables where schemaname = 'app' and relname in ('tasks', 'results')`;
    if (JSON.stringify(row) === last) return row!;
    last = JSON.stringify(row);
  }
}
