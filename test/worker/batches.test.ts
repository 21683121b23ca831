import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { eventually, gate, openShop, runWorker } from "./shop.js";

const wide = (task: string) =>
  defineJob({
    type: "wide",
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "only", task, tasks: { count: "{parameters.n}" } }],
  });

test("adaptive batches: no-op tasks come a thousand at a time after a few claims", async () => {
  const noop = defineHandler("noop", {}, () => {});
  const shop = await openShop({ jobs: [wide("noop")], handlers: [noop] });
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("wide", { n: 20_000 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 20_000 }] });
  expect(worker.stats().largest_batch).toBe(1000);
  // 20 full batches, the few small ones that led there, the claims for planning, and those that found nothing.
  expect(worker.stats().claims).toBeLessThan(45);
});

test("adaptive batches: long tasks are claimed as slots become free, and the rest is left for others", async () => {
  const gates = Array.from({ length: 20 }, gate);
  const long = defineHandler("long", {}, (_, ctx) => gates[ctx.ordinal]!.passed);
  const shop = await openShop({ jobs: [wide("long")], handlers: [long] });
  const worker = await shop.worker({ slots: 2 });
  const { job_id } = await shop.engine.submit("wide", { n: 20 });
  await eventually(() => worker.stats().running === 2);
  expect(worker.stats()).toMatchObject({ claimed: 2, queued: 0 });
  const other = await runWorker(shop.engine, { slots: 3 });
  await eventually(() => other.stats().running === 3);
  for (const { open } of gates) open();
  await shop.engine.wait(job_id);
  expect(worker.stats().completed + other.stats().completed).toBe(20);
});

test("hand-back: tasks that turn out long are given to a worker that has free slots", async () => {
  const { passed, open } = gate();
  let long = false;
  const changing = defineHandler("changing", {}, () => (long ? passed : undefined));
  const shop = await openShop({ jobs: [wide("changing")], handlers: [changing] });
  const worker = await shop.worker({ slots: 2 });
  // It learns that these tasks are short, and will claim far ahead.
  const first = await shop.engine.submit("wide", { n: 3000 });
  await shop.engine.wait(first.job_id);
  await worker.idle();
  long = true;
  const second = await shop.engine.submit("wide", { n: 300 });
  await eventually(() => worker.stats().queued > 50);
  await eventually(() => worker.stats().released > 50);
  await eventually(() => worker.stats().queued === 0);
  const { released } = worker.stats();
  const other = await runWorker(shop.engine, { slots: 4 });
  await eventually(() => other.stats().running === 4);
  open();
  expect(await shop.engine.wait(second.job_id)).toMatchObject({ status: "completed", stages: [{ completed: 300 }] });
  expect(await shop.db.sql`select 1 from app.attempts`).toEqual([]);
  // It did not claim again what it had just handed back.
  expect(worker.stats().released).toBe(released);
});

test("two workers share a wide stage and never run a task twice", async () => {
  const runs = new Map<number, number>();
  const counting = defineHandler("counting", {}, async (_, ctx) => {
    runs.set(ctx.ordinal, (runs.get(ctx.ordinal) ?? 0) + 1);
  });
  const shop = await openShop({ jobs: [wide("counting")], handlers: [counting] });
  const workers = [await shop.worker({ batch_max: 50 }), await runWorker(shop.engine, { batch_max: 50 })];
  const { job_id } = await shop.engine.submit("wide", { n: 5000 });
  await shop.engine.wait(job_id);
  expect(runs.size).toBe(5000);
  expect(Math.max(...runs.values())).toBe(1);
  expect(workers[0]!.stats().completed + workers[1]!.stats().completed).toBe(5000);
});

test("a worker with the smallest batches and many slots does not stall", async () => {
  const noop = defineHandler("noop", {}, () => {});
  const shop = await openShop({ jobs: [wide("noop")], handlers: [noop] });
  await shop.worker({ batch_max: 1, slots: 64, poll_s: 60 });
  const { job_id } = await shop.engine.submit("wide", { n: 300 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
});

test("a stage with max_parallel goes on as soon as one of its tasks ends", async () => {
  let running = 0;
  let most = 0;
  const limited = defineHandler("limited", {}, async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  });
  const job = defineJob({
    type: "limited_job",
    stages: [{ name: "only", task: "limited", tasks: { count: 40 }, max_parallel: 2 }],
  });
  const shop = await openShop({ jobs: [job], handlers: [limited] });
  await shop.worker({ poll_s: 60 });
  const { job_id } = await shop.engine.submit("limited_job", {});
  await shop.engine.wait(job_id);
  expect(most).toBe(2);
});

test("a handler that blocks in short pieces does not keep the worker from its heartbeat", async () => {
  const blocking = defineHandler("blocking", {}, () => {
    const until = performance.now() + 4;
    while (performance.now() < until);
  });
  const shop = await openShop({ jobs: [wide("blocking")], handlers: [blocking] });
  const worker = await shop.worker({ lease_s: 1 });
  const { job_id } = await shop.engine.submit("wide", { n: 500 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  expect(worker.stats()).toMatchObject({ fenced: 0, refused: 0 });
});

test("a worker needs the promised connections and no more, whatever its slots", async () => {
  const { passed, open } = gate();
  const busy = defineHandler("busy", {}, async (_, ctx) => {
    await ctx.db((session) => session.sql`select 1`);
    await passed;
  });
  const shop = await openShop({ jobs: [wide("busy")], handlers: [busy] });
  const before = await connections();
  const worker = await shop.worker({ slots: 64 });
  const { job_id } = await shop.engine.submit("wide", { n: 64 });
  await eventually(() => worker.stats().running === 64);
  await eventually(async () => (await connections()) > before);
  // work, heartbeat, LISTEN, burst
  expect((await connections()) - before).toBeLessThanOrEqual(4);
  open();
  await shop.engine.wait(job_id);

  async function connections(): Promise<number> {
    const [row] = await shop.db.sql<{ n: number }>`
      select count(*)::int as n from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`;
    return row!.n;
  }
});
