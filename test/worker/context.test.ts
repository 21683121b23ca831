import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Transient } from "../../src/core/errors/errors.js";
import { TaskContext } from "../../src/worker/run/context.js";
import type { TaskServices } from "../../src/worker/run/task_services.js";
import { openRig } from "./rig.js";
import { eventually, gate, openShop } from "./shop.js";

const fan = (task: string, extra: object = {}) =>
  defineJob({
    type: "fan",
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "only", task, tasks: { count: "{parameters.n}", index: "t{ordinal}" }, ...extra }],
  });

test("a scratch directory exists while its task runs and is gone afterwards", async () => {
  let dir = "";
  const writer = defineHandler("writer", {}, async (_, ctx) => {
    dir = await ctx.scratch();
    await writeFile(join(dir, "half.tif"), "x");
    return dir === (await ctx.scratch());
  });
  const shop = await openShop({ handlers: [writer] });
  await shop.worker();
  const { task_id } = await shop.engine.enqueue("writer", {});
  await eventually(async () => (await shop.engine.task(task_id)).status === "completed");
  await eventually(() =>
    access(dir).then(
      () => false,
      () => true,
    ),
  );
});

test("ctx tells a task who it is, the same on every attempt where it should be", async () => {
  const seen: Record<string, unknown>[] = [];
  const nosy = defineHandler("nosy", {}, (parameters, ctx) => {
    const { task_id, job_id, tenant_id, stage, ordinal, index, attempt, metadata, job, effect_key, task_type } = ctx;
    seen.push({
      task_id,
      job_id,
      tenant_id,
      stage,
      ordinal,
      index,
      attempt,
      metadata,
      job,
      effect_key,
      task_type,
      parameters,
    });
    if (attempt === 1) throw new Transient("again");
  });
  const shop = await openShop({ jobs: [fan("nosy")], handlers: [nosy] });
  await shop.worker({ poll_s: 0.05 });
  const { job_id } = await shop.engine.submit("fan", { n: 1 }, { correlation_id: "trace-1" });
  await shop.engine.wait(job_id);
  expect(seen).toHaveLength(2);
  expect(seen[0]).toMatchObject({ job_id, tenant_id: "default", stage: "only", ordinal: 0, index: "t0", attempt: 1 });
  expect(seen[0]).toMatchObject({ parameters: { n: 1 }, job: { job_id, job_type: "fan", correlation_id: "trace-1" } });
  expect(seen[1]).toMatchObject({ attempt: 2, effect_key: seen[0]!.effect_key, task_id: seen[0]!.task_id });
});

test("the job's parameters, which tasks share, cannot be changed by one of them", async () => {
  const rude = defineHandler("rude", {}, (parameters) => {
    parameters.n = 99;
  });
  const shop = await openShop({ jobs: [fan("rude", { max_attempts: 1 })], handlers: [rude] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 2 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "failed" });
});

test("progress is shown with the heartbeat", async () => {
  const { passed, open } = gate();
  const working = defineHandler("working", {}, async (_, ctx) => {
    ctx.progress({ done: 3, total: 7, message: "tiles" });
    await passed;
  });
  const shop = await openShop({ handlers: [working] });
  const worker = await shop.worker({ lease_s: 1 });
  await shop.engine.enqueue("working", {});
  await eventually(async () => {
    const [row] = await shop.db.sql<{ running: { progress: unknown; progress_age_s: number; elapsed_s: number }[] }>`
      select running from app.workers where worker_id = ${worker.worker_id}::text::uuid`;
    const [task] = row?.running ?? [];
    if (JSON.stringify(task?.progress) !== '{"done":3,"total":7,"message":"tiles"}') return false;
    expect(task!.progress_age_s).toBeGreaterThanOrEqual(0);
    expect(task!.progress_age_s).toBeLessThanOrEqual(task!.elapsed_s);
    return true;
  });
  open();
  await worker.idle();
});

test("saying the same progress again is no progress", () => {
  const { hold } = openRig({});
  const ctx = new TaskContext({} as TaskServices, hold(1, "t", 1), [0, null, {}, null], 0);
  const laterThan = (at: number) => {
    while (performance.now() <= at);
  };
  const reports: Parameters<typeof ctx.progress>[] = [
    [0.5],
    [0.5, "half"],
    [0.6, "half"],
    [{ done: 1, total: 2 }],
    [{ done: 1, total: 3 }],
    [{ done: 1, total: 3, message: "x" }],
  ];
  for (const report of reports) {
    const before = ctx.progress_at;
    laterThan(before);
    ctx.progress(...report);
    const changed = ctx.progress_at;
    expect(changed).toBeGreaterThan(before);
    laterThan(changed);
    ctx.progress(...report);
    expect(ctx.progress_at).toBe(changed);
  }
});

test("ctx.db writes in one transaction and gives the connection back", async () => {
  const writer = defineHandler("writer", {}, async (_, ctx) => {
    await ctx.db(async (session) => {
      await session.sql`insert into public.written values (${ctx.ordinal}::int)`;
      if (ctx.ordinal === 1) throw new Permanent("undo");
    });
  });
  const shop = await openShop({ jobs: [fan("writer", { failure_budget: { count: 1 } })], handlers: [writer] });
  await shop.db.script("create table public.written (n int)");
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 3 });
  await shop.engine.wait(job_id);
  expect(await shop.db.sql`select n from public.written order by n`).toEqual([{ n: 0 }, { n: 2 }]);
});

test("what a handler logs is kept in task_logs, also when the task ends in the same moment", async () => {
  const talker = defineHandler("talker", {}, (_, ctx) => {
    ctx.log.info("started", { n: ctx.ordinal });
    ctx.log.warn("odd\0 input");
  });
  const shop = await openShop({ jobs: [fan("talker")], handlers: [talker] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 3 });
  await shop.engine.wait(job_id);
  const lines = await shop.db.sql`select ordinal, attempt, level, message from app.task_logs order by ordinal, log_id`;
  expect(lines).toHaveLength(6);
  expect(lines[1]).toEqual({ ordinal: 0, attempt: 1, level: "warn", message: "odd\ufffd input" });
});

test("what a task logs while it runs is written before it ends, and is bounded", async () => {
  const { passed, open } = gate();
  const chatty = defineHandler("chatty", {}, async (_, ctx) => {
    for (let n = 0; n < 50_000; n++) ctx.log.debug(`line ${n}`);
    await passed;
  });
  const shop = await openShop({ handlers: [chatty] });
  const worker = await shop.worker();
  await shop.engine.enqueue("chatty", {});
  await eventually(async () => {
    const [row] = await shop.db.sql<{ n: number }>`select count(*)::int as n from app.task_logs`;
    return row!.n === 1001;
  });
  open();
  await worker.idle();
  const [row] = await shop.db.sql<{ n: number }>`select count(*)::int as n from app.task_logs`;
  expect(row!.n).toBe(1001);
});

test("a handler stuck in ctx.db when it is aborted gives the connection back, and nothing of it is committed", async () => {
  const { passed, open } = gate();
  const errors: unknown[] = [];
  const stuck = defineHandler("stuck", {}, async (_, ctx) => {
    if (ctx.ordinal > 0)
      return ctx.db((session) => session.sql`insert into public.written values (${ctx.ordinal}::int)`);
    const work = ctx.db(async (session) => {
      await session.sql`insert into public.written values (0)`;
      await passed;
      await session.sql`insert into public.written values (-1)`.catch((error: unknown) => errors.push(error));
    });
    await work.catch((error: unknown) => errors.push(error));
    await passed;
    // A zombie by now.
    await ctx.db((session) => session.sql`insert into public.written values (-2)`).catch((error) => errors.push(error));
  });
  const job = fan("stuck", { timeout_s: 1, max_attempts: 1, failure_budget: { count: 1 } });
  const shop = await openShop({ jobs: [job], handlers: [stuck] });
  await shop.db.script("create table public.written (n int); grant all on public.written to public");
  const worker = await shop.worker({ slots: 1, abort_grace_s: 0.1 });
  const { job_id } = await shop.engine.submit("fan", { n: 3 });
  // There is one connection for handlers: the other tasks need it.
  expect(await shop.engine.wait(job_id)).toMatchObject({ stages: [{ completed: 2, failed: 1 }] });
  open();
  await eventually(() => worker.stats().late === 1);
  await eventually(() => errors.length === 3);
  expect(errors.filter((error) => (error as Error).name === "TimeoutError")).toHaveLength(2);
  expect(await shop.db.sql`select n from public.written order by n`).toEqual([{ n: 1 }, { n: 2 }]);
});
