import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { DatabaseError } from "../../src/engine/database/database.js";
import { Connections } from "../../src/worker/life/connections.js";
import { settlesWithin } from "../../src/worker/wait.js";
import { attemptsOf, eventually, gate, openShop, runWorker } from "./shop.js";

const fan = (task: string) =>
  defineJob({
    type: "fan",
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "only", task, tasks: { count: "{parameters.n}" } }],
  });

test("a worker whose heartbeats are not answered fences itself: it aborts, drops its results and registers anew", async () => {
  const { passed, open } = gate();
  const signals: AbortSignal[] = [];
  const holding = defineHandler("holding", {}, async (_, ctx) => {
    signals.push(ctx.signal);
    if (signals.length === 1) await passed;
    return "done";
  });
  const shop = await openShop({ jobs: [fan("holding")], handlers: [holding] });
  const worker = await shop.worker({ lease_s: 1, abort_grace_s: 60 });
  const first_id = worker.worker_id;
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await eventually(() => signals.length === 1);
  // A transaction that holds the worker's row: heartbeats are sent and never answered.
  await shop.db.transaction(async (tx) => {
    await tx.sql`select 1 from app.workers where worker_id = ${first_id}::text::uuid for update`;
    await eventually(() => signals[0]!.aborted);
    expect(worker.stats().fenced).toBe(1);
    open();
    await eventually(() => worker.stats().dropped === 1);
    expect(await tx.sql`select 1 from app.results`).toEqual([]);
  });
  await eventually(() => worker.worker_id !== first_id);
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  // Whoever comes first, the worker's next life or another's janitor, puts the task back.
  for (const { outcome } of await attemptsOf(shop.db)) expect(["lost", "released"]).toContain(outcome);
});

test("a registration that is lost before it listens is followed by another", async () => {
  const shop = await openShop({ jobs: [fan("quick")], handlers: [defineHandler("quick", {}, () => "done")] });
  const { listen } = Connections.prototype;
  const slow = vi.spyOn(Connections.prototype, "listen").mockImplementationOnce(async function (
    this: Connections,
    ...args
  ) {
    await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
    await shop.engine.worker_commands.reap_workers(shop.db);
    // Meanwhile a heartbeat hears of it, and a new registration would have begun.
    await sleep(3_000);
    await listen.apply(this, args);
  });
  onTestFinished(() => slow.mockRestore());
  const worker = await shop.worker({ lease_s: 3 });
  expect(worker.stats().fenced).toBeGreaterThan(0);
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
});

test("a worker declared dead learns so with its next heartbeat and starts again under a fresh id", async () => {
  const { passed, open } = gate();
  let runs = 0;
  const holding = defineHandler("holding", {}, async (_, ctx) => {
    if (++runs === 1)
      await Promise.race([passed, new Promise((resolve) => ctx.signal.addEventListener("abort", resolve))]);
    return runs;
  });
  const shop = await openShop({ jobs: [fan("holding")], handlers: [holding] });
  const worker = await shop.worker({ lease_s: 3 });
  const first_id = worker.worker_id;
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await eventually(() => runs === 1);
  await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
  await shop.engine.worker_commands.reap_workers(shop.db);
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  expect(worker.worker_id).not.toBe(first_id);
  expect(worker.stats()).toMatchObject({ fenced: 1, dropped: 1 });
  open();
});

test("a late finish is refused and recorded, and nobody is thrown at", async () => {
  const { passed, open } = gate();
  let runs = 0;
  const holding = defineHandler("holding", {}, async () => {
    if (++runs === 1) await passed;
    return { by: runs };
  });
  const shop = await openShop({ jobs: [fan("holding")], handlers: [holding] });
  // The lease is long, and no slot is free to ask for more: this worker learns nothing before it finishes.
  const zombie = await shop.worker({ lease_s: 600, slots: 1 });
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await eventually(() => runs === 1);
  await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
  await shop.engine.worker_commands.reap_workers(shop.db);
  const successor = await runWorker(shop.engine);
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  open();
  await eventually(() => zombie.stats().refused === 1);
  expect(successor.stats().completed).toBe(1);
  expect((await attemptsOf(shop.db)).map((row) => row.outcome)).toEqual(["lost", "refused"]);
  const [row] = await shop.db.sql<{ result: unknown }>`select result from app.results`;
  expect(row!.result).toEqual({ by: 2 });
});

test("cancelling a running job aborts its handlers with the next heartbeat", async () => {
  const aborted: unknown[] = [];
  let started = 0;
  const waiting = defineHandler("waiting", {}, (_, ctx) => {
    started++;
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => {
        aborted.push(ctx.signal.reason);
        reject(ctx.signal.reason);
      });
    });
  });
  const shop = await openShop({ jobs: [fan("waiting")], handlers: [waiting] });
  const worker = await shop.worker({ lease_s: 1 });
  const { job_id } = await shop.engine.submit("fan", { n: 3 });
  await eventually(() => started === 3);
  await shop.engine.cancelJob(job_id, "not needed");
  await eventually(() => aborted.length === 3);
  await worker.idle();
  expect(await shop.engine.status(job_id)).toMatchObject({ status: "cancelled" });
  expect(worker.stats()).toMatchObject({ dropped: 3, failed: 0 });
});

test("a claim whose reply was lost goes back to others, although its worker lives", async () => {
  const noop = defineHandler("noop", {}, (_, ctx) => ctx.ordinal);
  const shop = await openShop({ jobs: [fan("noop")], handlers: [noop] });
  const { claim, claim_hinted } = shop.engine.worker_commands;
  let lost = 0;
  const losing = async (asked: ReturnType<typeof claim>) => {
    const reply = await asked;
    if (reply.claims.length === 0 || lost++ > 0) return reply;
    throw new DatabaseError("08006", "the connection was lost after the commit");
  };
  const either: Pick<typeof shop.engine.worker_commands, "claim" | "claim_hinted"> = {
    claim: (db, request) => losing(claim(db, request)),
    claim_hinted: (db, task_type, request) => losing(claim_hinted(db, task_type, request)),
  };
  Object.assign(shop.engine, { worker_commands: { ...shop.engine.worker_commands, ...either } });
  const worker = await shop.worker({ lease_s: 1 });
  const { job_id } = await shop.engine.submit("fan", { n: 5 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 5 }] });
  expect(lost).toBeGreaterThan(1);
  expect(worker.stats().fenced).toBe(0);
});

for (const end of ["reap_workers", "stop_worker"] as const) {
  test(`a claim that commits after ${end} ended its worker strands no task`, async () => {
    const shop = await openShop({ jobs: [fan("noop")], handlers: [defineHandler("noop", {}, () => {})] });
    const { worker_commands } = shop.engine;
    const worker_id = randomUUID();
    const facts = { worker_id, host: "h", pid: 1, version: "0", types: ["noop"], slots: 1, connections: 0, lease_s: 1 };
    await worker_commands.register_worker(shop.db, facts);
    const { job_id } = await shop.engine.submit("fan", { n: 3 });
    let ending: Promise<unknown> = Promise.resolve();
    await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
    await shop.db.transaction(async (tx) => {
      const { claims } = await worker_commands.claim(tx, { worker_id, types: ["noop"], limit: 3, after_tenant: null });
      expect(claims).toHaveLength(1);
      ending = worker_commands[end](shop.db, { worker_id });
      // It ends without us, or it waits for us: the database says which.
      await eventually(async () => {
        const [row] = await shop.db.sql<{ waits: boolean; ended: boolean }>`
          select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waits,
                 exists (select from app.workers where status <> 'live') as ended`;
        return row!.waits || row!.ended || (await settlesWithin(ending, 0));
      });
    });
    await ending;
    await worker_commands.reap_workers(shop.db);
    expect(await shop.db.sql`select claim_id from app.claims`).toEqual([]);
    await shop.worker();
    expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  });
}

test("a finish whose reply was lost is sent again, and counts once", async () => {
  const noop = defineHandler("noop", {}, (_, ctx) => ctx.ordinal);
  const shop = await openShop({ jobs: [fan("noop")], handlers: [noop] });
  const { finish } = shop.engine.worker_commands;
  let lost = 0;
  const losing: typeof finish = async (db, request) => {
    const reply = await finish(db, request);
    if (lost++ > 0) return reply;
    throw new DatabaseError("08006", "the connection was lost after the commit");
  };
  Object.assign(shop.engine, { worker_commands: { ...shop.engine.worker_commands, finish: losing } });
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 5 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 5 }] });
  await worker.idle();
  expect(worker.stats()).toMatchObject({ completed: 5, refused: 0 });
});

test("a worker whose connection is cut again and again still finishes everything once", async () => {
  const noop = defineHandler("noop", {}, (_, ctx) => ctx.ordinal);
  const shop = await openShop({ jobs: [fan("noop")], handlers: [noop] });
  // A short lease: what a lost reply left behind is found with a heartbeat.
  const worker = await shop.worker({ batch_max: 10, lease_s: 2 });
  const { job_id } = await shop.engine.submit("fan", { n: 1000 });
  const cut = () => shop.db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'fanfold work'`;
  for (let cuts = 0; cuts < 10; cuts++) {
    const { claims } = worker.stats();
    await cut();
    await eventually(async () => worker.stats().claims > claims + 2);
  }
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 1000 }] });
  await worker.idle();
  expect(await shop.db.sql`select 1 from app.claims`).toEqual([]);
  expect(worker.stats().fenced).toBe(0);
});

test("a worker goes on by polling when its LISTEN connection is cut", async () => {
  const noop = defineHandler("noop", {}, () => {});
  const shop = await openShop({ handlers: [noop] });
  const worker = await shop.worker({ poll_s: 0.1 });
  await worker.idle();
  await shop.db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query ilike 'listen%'`;
  const { task_id } = await shop.engine.enqueue("noop", {});
  await eventually(async () => (await shop.engine.task(task_id)).status === "completed");
});

test("who waits for a worker to be idle waits on when it has to register anew", async () => {
  const { passed, open } = gate();
  let runs = 0;
  const holding = defineHandler("holding", {}, async () => {
    if (++runs === 1) await passed;
  });
  const shop = await openShop({ jobs: [fan("holding")], handlers: [holding] });
  const worker = await shop.worker({ lease_s: 1 });
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await eventually(() => runs === 1);
  const idle = worker.idle();
  // At once: a heartbeat between the two would keep it alive.
  await shop.db.transaction(async (tx) => {
    await tx.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
    await shop.engine.worker_commands.reap_workers(tx);
  });
  await idle;
  expect(worker.stats().fenced).toBe(1);
  expect(await shop.engine.status(job_id)).toMatchObject({ status: "completed" });
  open();
});
