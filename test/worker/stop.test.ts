import type { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { stopOnSignals } from "../../src/worker/signals.js";
import type { Worker } from "../../src/worker/worker.js";
import { attemptsOf, eventually, gate, openShop } from "./shop.js";

const fan = (task: string) =>
  defineJob({
    type: "fan",
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "only", task, tasks: { count: "{parameters.n}" }, max_attempts: 1 }],
  });

const places = (db: { sql: CallableFunction }) =>
  db.sql`select (select coalesce(sum(hi - lo), 0)::int from app.ready) as ready,
                (select coalesce(sum(app.held_count(held)), 0)::int from app.claims) as held,
                (select count(*)::int from app.results) as done`;

test("a graceful stop hands back what has not started, waits for what runs, and costs no attempt", async () => {
  const { passed, open } = gate();
  const slow = defineHandler("slow", {}, () => passed);
  const shop = await openShop({ jobs: [fan("slow")], handlers: [slow] });
  const worker = await shop.worker({ slots: 2 });
  const { job_id } = await shop.engine.submit("fan", { n: 10 });
  await eventually(() => worker.stats().running === 2);
  const stopping = worker.stop();
  await eventually(async () => (await places(shop.db))[0].ready === 8);
  open();
  await stopping;
  expect(await places(shop.db)).toEqual([{ ready: 8, held: 0, done: 2 }]);
  expect(await attemptsOf(shop.db)).toEqual([]);
  const [row] = await shop.db.sql<{ status: string }>`select status from app.workers`;
  expect(row!.status).toBe("stopped");
  const next = await shop.worker();
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  expect(next.stats().completed).toBe(8);
});

test("a stopping worker keeps its lease while its tasks finish", async () => {
  const { passed, open } = gate();
  const slow = defineHandler("slow", {}, () => passed);
  const shop = await openShop({ handlers: [slow] });
  const worker = await shop.worker({ lease_s: 1 });
  await shop.engine.enqueue("slow", {});
  await eventually(() => worker.stats().running === 1);
  const stopping = worker.stop();
  const beats = async () => {
    const [row] = await shop.db.sql<{ n: number }>`
      select extract(epoch from heartbeat_at - started_at)::float8 as n from app.workers`;
    return row!.n;
  };
  await eventually(async () => (await beats()) > 1.2);
  await shop.engine.worker_commands.reap_workers(shop.db);
  open();
  await stopping;
  expect(worker.stats()).toMatchObject({ completed: 1, refused: 0, fenced: 0 });
});

test("a task that outlives the grace is asked to stop and handed back without costing an attempt", async () => {
  const reasons: unknown[] = [];
  const endless = defineHandler("endless", {}, async (_, ctx) => {
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    reasons.push(ctx.signal.reason);
    throw new Error("stopped midway");
  });
  const shop = await openShop({ jobs: [fan("endless")], handlers: [endless] });
  const worker = await shop.worker({ grace_s: 0.1 });
  await shop.engine.submit("fan", { n: 1 });
  await eventually(() => worker.stats().running === 1);
  await worker.stop();
  expect(reasons).toHaveLength(1);
  expect(await places(shop.db)).toEqual([{ ready: 1, held: 0, done: 0 }]);
  expect(await attemptsOf(shop.db)).toMatchObject([{ attempt: 1, outcome: "released" }]);
  const [range] = await shop.db.sql<{ attempt: number; crashes: number }>`select attempt, crashes from app.ready`;
  expect(range).toEqual({ attempt: 1, crashes: 0 });
});

test("a handler that ignores the stop is handed back all the same, and its result dropped", async () => {
  const { passed, open } = gate();
  const deaf = defineHandler("deaf", {}, () => passed);
  const shop = await openShop({ jobs: [fan("deaf")], handlers: [deaf] });
  const worker = await shop.worker({ grace_s: 0.05, abort_grace_s: 0.05 });
  await shop.engine.submit("fan", { n: 1 });
  await eventually(() => worker.stats().running === 1);
  await worker.stop();
  expect(await places(shop.db)).toEqual([{ ready: 1, held: 0, done: 0 }]);
  open();
  await eventually(() => worker.stats().late === 1);
  expect(await places(shop.db)).toEqual([{ ready: 1, held: 0, done: 0 }]);
});

test("the first signal stops gracefully, the second immediately", async () => {
  const { passed, open } = gate();
  const deaf = defineHandler("deaf", {}, () => passed);
  const shop = await openShop({ jobs: [fan("deaf")], handlers: [deaf] });
  const worker = await shop.worker({ grace_s: 3600, abort_grace_s: 3600 });
  const watch = stopOnSignals(worker);
  await shop.engine.submit("fan", { n: 1 });
  await eventually(() => worker.stats().running === 1);
  // Emitted rather than sent: a real signal would reach the test runner as well.
  (process as EventEmitter).emit("SIGTERM", "SIGTERM");
  let ended = false;
  void watch.stopped.then(() => {
    ended = true;
  });
  await eventually(async () => (await shop.db.sql`select 1`).length === 1);
  expect(ended).toBe(false);
  (process as EventEmitter).emit("SIGTERM", "SIGTERM");
  expect(await watch.stopped).toBe("at once");
  expect(await places(shop.db)).toEqual([{ ready: 1, held: 0, done: 0 }]);
  watch.dispose();
  open();
  expect(process.listenerCount("SIGTERM")).toBe(0);
});

test("kill ends within seconds although the database answers nothing", async () => {
  const shop = await openShop({ jobs: [fan("noop")], handlers: [defineHandler("noop", {}, () => {})] });
  let finishes = 0;
  const never = () => new Promise<never>(() => {});
  const finish = () => {
    finishes++;
    return never();
  };
  const deaf = { finish, release: never, write_logs: never, stop_worker: never };
  Object.assign(shop.engine, { worker_commands: { ...shop.engine.worker_commands, ...deaf } });
  const worker = await shop.worker();
  await shop.engine.submit("fan", { n: 1 });
  await eventually(() => finishes === 1);
  const asked_at = performance.now();
  const stopping = worker.stop();
  await worker.kill();
  await stopping;
  expect(performance.now() - asked_at).toBeLessThan(4000);
});

test("a stop waits for an answer no longer than a lease, even while heartbeats are answered", async () => {
  const shop = await openShop({ jobs: [fan("noop")], handlers: [defineHandler("noop", {}, () => {})] });
  let finishes = 0;
  const finish = () => {
    finishes++;
    return new Promise<never>(() => {});
  };
  Object.assign(shop.engine, { worker_commands: { ...shop.engine.worker_commands, finish } });
  const worker = await shop.worker({ lease_s: 1 });
  await shop.engine.submit("fan", { n: 1 });
  await eventually(() => finishes === 1);
  await worker.stop();
  // Whoever comes next may have the task at once.
  expect(await places(shop.db)).toEqual([{ ready: 1, held: 0, done: 0 }]);
});

test("the third signal ends the process", async () => {
  const calls: string[] = [];
  const never = (name: string) => () => {
    calls.push(name);
    return new Promise<never>(() => {});
  };
  const worker = { stop: never("stop"), kill: never("kill") } as unknown as Worker;
  const watch = stopOnSignals(worker, { onThird: () => calls.push("exit") });
  for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"]) (process as EventEmitter).emit(signal, signal);
  watch.dispose();
  expect(calls).toEqual(["stop", "kill", "exit"]);
});

test("stopping twice, or a worker that was killed, is no error", async () => {
  const shop = await openShop({ handlers: [defineHandler("noop", {}, () => {})] });
  const worker = await shop.worker();
  await Promise.all([worker.stop(), worker.stop()]);
  await worker.kill();
  await worker.stop();
});

test("a worker that has stopped leaves no connection", async () => {
  const reader = defineHandler("reader", {}, (_, ctx) => ctx.db((session) => session.sql`select 1`));
  const shop = await openShop({ handlers: [reader] });
  const worker = await shop.worker();
  await shop.engine.enqueue("reader", {});
  await eventually(() => worker.stats().completed === 1);
  await worker.stop();
  const open = () => shop.db.sql`
    select application_name from pg_stat_activity
     where datname = current_database() and application_name ~ '^fanfold (work|heartbeat|burst)'`;
  await eventually(async () => (await open()).length === 0);
});
