// F8–F10: connections that are cut at the worst moment, or fall silent.
import { expect } from "vitest";
import { DatabaseError } from "../../src/engine/database/database.js";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { taskCount } from "./job.js";
import { named } from "./proxy.js";
import type { Scene } from "./scene.js";

const listener = named("fanfold heartbeat listen");

async function count(scene: Scene, table: "jobs" | "tasks"): Promise<number> {
  const [row] = await scene.db.sql<{ jobs: number; tasks: number }>`
    select (select count(*) from app.jobs) as jobs, (select count(*) from app.idempotency_keys) as tasks`;
  return row![table];
}

/** The connection is cut, and the caller told that nobody knows. */
async function isLost(work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DatabaseError);
  expect((error as DatabaseError).code).toBe("08006");
}

fault("F8 a submit is cut after it committed and before it is answered", async (scene) => {
  const proxy = await scene.proxy();
  const engine = await scene.connect({ via: proxy });
  // Committed, and nobody was told: the same content finds the job there.
  const cut = proxy.cutAfter("app.submit_kept");
  await isLost(scene.submit({ n: 50 }, engine));
  await cut;
  expect(await count(scene, "jobs")).toBe(1);
  expect(await scene.submit({ n: 50 }, engine)).toMatchObject({ created: false });
  // Cut when the statement had only just left: whether it committed is settled by asking again.
  proxy.cutAfter("app.submit_kept", { answered: false });
  await isLost(scene.submit({ n: 51 }, engine));
  await scene.submit({ n: 51 }, engine);
  expect(await count(scene, "jobs")).toBe(2);
  // The same within a transaction of the submitter's own, at its COMMIT.
  const inTransaction = () => engine.db.transaction((tx) => engine.submit("chain", { n: 52 }, { db: tx }));
  proxy.cutAfter("commit");
  await isLost(inTransaction());
  expect(await inTransaction()).toMatchObject({ created: false });
  await scene.submit({ n: 52 }, engine);
  // And a task of its own, told by its key.
  const enqueue = () => engine.enqueue("lone", {}, { idempotency_key: "once" });
  proxy.cutAfter("app.enqueue_tasks");
  await isLost(enqueue());
  expect(await enqueue()).toMatchObject({ created: false });
  expect([await count(scene, "jobs"), await count(scene, "tasks")]).toEqual([3, 1]);
  await scene.fleet({ size: 1 });
  await eventually(() => scene.effects().some(({ job_id, what }) => job_id === "" && what === "end"));
});

fault("F8 finishes and claims are cut after they committed and before they are answered", async (scene) => {
  const proxy = await scene.proxy();
  await scene.fleet({ via: proxy });
  const cuts = [
    proxy.cutAfter("app.finish(", { times: 6 }),
    proxy.cutAfter("app.claim(", { times: 3 }),
    proxy.cutAfter("app.heartbeat(", { times: 2 }),
  ];
  await scene.submit({ n: 500, ms: 40, fail_every: 50 });
  const made = (await Promise.all(cuts)).flat();
  expect(made).toHaveLength(11);
  await scene.settle();
  // A finish that is sent again is told that it was taken, and not that it came too late. (The end of a failed attempt is
  // still put on record as refused when it is sent again: refuse_late looks for it among the results only.)
  const refused = await scene.db.sql`
    select from app.attempts a
     where outcome = 'refused'
       and not exists (
         select from app.attempts f
          where (f.stage_id, f.ordinal, f.attempt, f.worker_id, f.outcome) = (a.stage_id, a.ordinal, a.attempt, a.worker_id, 'failed'))`;
  expect(refused).toEqual([]);
  const [tries] = await scene.db.sql<{ n: number }>`select count(*) as n from app.attempts where outcome = 'failed'`;
  expect(tries!.n).toBe(10);
});

fault("F8 connections are reset, again and again", async (scene) => {
  const proxy = await scene.proxy();
  await scene.fleet({ via: proxy });
  await scene.submit({ ms: 30 });
  let dropped = 0;
  for (let drops = 0; drops < 7; drops++) {
    await scene.progress(taskCount() * (0.05 + 0.15 * drops));
    dropped += proxy.drop();
  }
  scene.notes.push(`${dropped} connections reset`);
  expect(dropped).toBeGreaterThan(9);
  await scene.settle();
  expect(await scene.db.sql`select from app.attempts where outcome = 'failed'`).toEqual([]);
});

fault("F9 the network of one worker stalls, without a FIN", async (scene) => {
  const proxy = await scene.proxy();
  const cut_off = await scene.worker({ via: proxy, options: { abort_grace_s: 60 } });
  const { until, open } = scene.gate();
  await scene.submit({ n: 200, hold: { stage: "make", ordinals: [0, 1, 2, 3], until, stubborn: true } });
  await eventually(() => scene.effects().filter(({ what }) => what === "start").length === 4);
  expect(proxy.stall()).toBeGreaterThan(2);
  await scene.fleet();
  // By its own clock the lease is over: it gives its tasks up, and finishes none of them although their handlers return.
  await eventually(() => cut_off.logged("tasks abandoned").length > 0);
  expect(cut_off.logged("tasks abandoned")[0]).toMatchObject({ why: "the lease may be over", running: 4 });
  open();
  await scene.settle();
  proxy.heal();
  // Unattended it comes back, under a new name.
  await eventually(async () => {
    const live = await scene.db.sql`select from app.workers where pid = ${cut_off.pid}::integer and status = 'live'`;
    return live.length === 1;
  });
  const stats = await cut_off.stop();
  expect(stats!.completed).toBe(0);
  expect(stats!.dropped).toBeGreaterThanOrEqual(4);
});

fault("F9 only the connection for claims and finishes stalls, while heartbeats are answered", async (scene) => {
  const proxy = await scene.proxy();
  const half_deaf = await scene.worker({ via: proxy });
  const { until, open } = scene.gate();
  await scene.submit({ n: 200, hold: { stage: "make", ordinals: [0, 1, 2, 3], until } });
  await eventually(() => scene.effects().filter(({ what }) => what === "start").length === 4);
  const stalled = proxy.open(named("fanfold work"));
  for (const wire of stalled) wire.stall();
  open();
  // Nobody else is there: it has to find out by itself, and go on over a new connection.
  await scene.settle();
  expect(stalled).toHaveLength(1);
  expect(half_deaf.alive).toBe(true);
});

fault("F10 the connection for LISTEN is half open", async (scene) => {
  const proxy = await scene.proxy();
  const worker = await scene.worker({ via: proxy });
  await eventually(() => proxy.open(listener).length === 1);
  expect(proxy.halfOpen(listener)).toBe(1);
  const sessions = async () =>
    (await scene.db.sql`select from pg_stat_activity where application_name = 'fanfold heartbeat listen'`).length;
  await eventually(async () => (await sessions()) === 0);
  // Found by polling: no hint can come.
  await scene.submit({ n: 50 });
  await scene.settle();
  // It notices that nobody answers there, and listens again.
  await eventually(async () => (await sessions()) === 1);
  expect(worker.logged("tasks abandoned")).toEqual([]);
});
