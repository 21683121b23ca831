// Width: a stage of 100,000 tasks is planned, run and folded by one small process.
import { expect, test } from "vitest";
import { freshDatabase } from "../postgres.js";
import { runWide } from "./wide.js";

test("a stage of 100,000 tasks plans, runs and folds with the worker's memory under 300 MB", async () => {
  const { db, url, drop } = await freshDatabase();
  const n = 100_000;
  const { status, result, peak_mb } = await runWide(url, n);
  expect([status, result]).toEqual(["completed", { seen: n, sum: (n * (n - 1)) / 2 }]);
  expect(peak_mb).toBeLessThan(300);
  expect(
    await db.sql`select (select count(*)::integer from app.ready) as ready, (select count(*)::integer from app.claims) as claims`,
  ).toEqual([{ ready: 0, claims: 0 }]);
  await drop();
}, 120_000);
