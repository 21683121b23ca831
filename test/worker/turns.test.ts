// The jobs of a tenant take turns in a worker as in the database: what it holds ahead does not keep others waiting.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { eventually, openShop } from "./shop.js";
import { smallBesideWide } from "./turns.js";

test("a small job that comes last ends while the wide ones before it have hardly begun", async () => {
  const seen = await smallBesideWide({ wide_jobs: 5, wide: { n: 600, ms: 40 }, small: { n: 40, ms: 15 } });
  // Alone they would take 15 s. All have moved, and none has got far: each had its turns.
  expect(Math.min(...seen.wide_completed)).toBeGreaterThan(0);
  expect(Math.max(...seen.wide_completed)).toBeLessThan(200);
});

test("what a worker holds ahead goes back when another job comes", async () => {
  let small_after = Number.POSITIVE_INFINITY;
  let starts = 0;
  const nap = defineHandler("nap", {}, async (_, ctx) => {
    starts++;
    if (ctx.job?.job_type === "small") small_after = Math.min(small_after, starts);
    await sleep(20, undefined, { signal: ctx.signal });
  });
  const parameters = z.object({ n: z.int() });
  const stages = [{ name: "nap", task: "nap", tasks: { count: "{parameters.n}" } }];
  const jobs = ["wide", "small"].map((type) => defineJob({ type, parameters, stages }));
  const shop = await openShop({ jobs, handlers: [nap] });
  const worker = await shop.worker({ slots: 2 });
  const wide = await shop.engine.submit("wide", { n: 1000 });
  await eventually(() => worker.stats().queued >= 60);
  const before = starts;
  const small = await shop.engine.submit("small", { n: 4 });
  expect(await shop.engine.wait(small.job_id)).toMatchObject({ status: "completed" });
  // It held about a hundred ahead, asked again when half of them were gone, and gave back what would not have started soon.
  expect(small_after - before).toBeLessThan(90);
  await eventually(() => worker.stats().released > 0);
  expect(await shop.db.sql`select 1 from app.attempts`).toEqual([]);
  await shop.engine.cancelJob(wide.job_id);
});

test("a scheduled job of several stages ends while a wide job has most of its tasks left", async () => {
  const nap = defineHandler("nap", {}, (_, ctx) => sleep(30, undefined, { signal: ctx.signal }));
  const parameters = z.object({ n: z.int() });
  const wide = defineJob({
    type: "wide",
    parameters,
    stages: [{ name: "nap", task: "nap", tasks: { count: "{parameters.n}" } }],
  });
  const chain = defineJob({
    type: "chain",
    parameters: z.object({}),
    stages: ["one", "two", "three", "four"].map((name) => ({ name, task: "nap" })),
  });
  const shop = await openShop({ jobs: [wide, chain], handlers: [nap] });
  await shop.worker({ slots: 4 });
  const busy = await shop.engine.submit("wide", { n: 1000 });
  await shop.engine.schedules.put("each-year", { job_type: "chain", cron: "0 0 1 1 *" });
  const { job_id } = await shop.engine.schedules.runNow("each-year");
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  const [row] = await shop.db.sql<{ completed: number }>`
    select p.completed::integer from app.stage_progress p join app.stages s using (stage_id) where s.job_id = ${busy.job_id}`;
  expect(row!.completed).toBeLessThan(600);
  await shop.engine.cancelJob(busy.job_id);
});
