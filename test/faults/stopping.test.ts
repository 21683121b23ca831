// F31–F33: processes that are asked to leave: workers, submitters, and everything in turn.
import { expect } from "vitest";
import { is_pooled } from "../behind_pooler.js";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { keepSubmitting } from "./load.js";
import type { Scene } from "./scene.js";
import { Submitter } from "./submitter.js";
import type { WorkerProcess } from "./worker_process.js";

const held = [0, 1, 2, 3];

/** A worker whose four slots are taken by held tasks, with more of the same to claim. */
async function busyWorker(scene: Scene, grace_s: number, stubborn = false) {
  const worker = await scene.worker({ options: { grace_s, abort_grace_s: 0.5 } });
  const { until, open } = scene.gate();
  await scene.submit({ n: 40, name: "first", hold: { stage: "make", ordinals: held, until, stubborn } });
  await eventually(() => scene.effects().filter(({ what }) => what === "start").length === held.length);
  return { worker, open };
}

async function heldTasks(scene: Scene, worker: WorkerProcess): Promise<number> {
  const [row] = await scene.db.sql<{ tasks: number }>`
    select coalesce(sum(app.held_count(held)), 0)::bigint as tasks from app.claims join app.workers using (worker_id)
     where pid = ${worker.pid}::integer`;
  return row!.tasks;
}

async function heartbeatOf(scene: Scene, worker: WorkerProcess): Promise<{ at: string; status: string }> {
  const [row] = await scene.db.sql<{ at: string; status: string }>`
    select heartbeat_at::text as at, status from app.workers where pid = ${worker.pid}::integer`;
  return row!;
}

/** No attempt that errors have was spent, nobody was lost, and what was handed back says so. */
async function expectNoCosts(scene: Scene, released: number): Promise<void> {
  const attempts = await scene.db.sql<{ ordinal: number; outcome: string; attempt: number }>`
    select ordinal, outcome, attempt from app.attempts order by ordinal`;
  expect(attempts).toEqual(held.slice(0, released).map((ordinal) => ({ ordinal, outcome: "released", attempt: 1 })));
  const [most] = await scene.db.sql<{ attempt: number }>`select max(attempt) as attempt from app.results`;
  expect(most!.attempt).toBe(1);
}

fault("F31 SIGTERM of a worker, with more grace than its tasks need", async (scene) => {
  const { worker, open } = await busyWorker(scene, 600);
  worker.signal("SIGTERM");
  // What had not started goes back at once; what runs is kept, with heartbeats, for longer than a lease.
  await eventually(async () => (await heldTasks(scene, worker)) === held.length);
  await scene.submit({ n: 10, name: "second" });
  for (let beat = 0; beat < 4; beat++) {
    const { at } = await heartbeatOf(scene, worker);
    await eventually(async () => (await heartbeatOf(scene, worker)).at !== at);
  }
  expect(await heartbeatOf(scene, worker)).toMatchObject({ status: "live" });
  expect(await heldTasks(scene, worker)).toBe(held.length);
  expect(scene.effects()).toHaveLength(held.length);
  open();
  expect(await worker.exited).toMatchObject({ code: 0, signal: null });
  expect(worker.lines).toContain("stopped gracefully");
  expect(await worker.stop()).toMatchObject({ completed: held.length, failed: 0, fenced: 0 });
  expect(await heartbeatOf(scene, worker)).toMatchObject({ status: "stopped" });
  await scene.fleet({ size: 1 });
  await scene.settle();
  await expectNoCosts(scene, 0);
});

for (const stubborn of [false, true]) {
  const manner = stubborn ? "that ignore ctx.signal" : "that obey";
  fault(`F31 SIGTERM of a worker, with less grace than its tasks need, ${manner}`, async (scene) => {
    const { worker, open } = await busyWorker(scene, 1, stubborn);
    worker.signal("SIGTERM");
    await worker.said("stopped");
    expect(await heartbeatOf(scene, worker)).toMatchObject({ status: "stopped" });
    // The process cannot end before a handler that does not; what it returns now is nobody's.
    open();
    expect(await worker.exited).toMatchObject({ code: 0, signal: null });
    expect(await worker.stop()).toMatchObject({ completed: 0, failed: 0, fenced: 0 });
    await scene.fleet({ size: 1 });
    await scene.settle();
    await expectNoCosts(scene, held.length);
  });
}

fault("F31 a second SIGTERM ends the wait", async (scene) => {
  const { worker, open } = await busyWorker(scene, 600);
  worker.signal("SIGTERM");
  await eventually(() => worker.logged("worker stopping").length > 0);
  await eventually(async () => (await heldTasks(scene, worker)) === held.length);
  expect(worker.alive).toBe(true);
  worker.signal("SIGTERM");
  expect(await worker.exited).toMatchObject({ code: 0, signal: null });
  expect(worker.lines).toContain("stopped at once");
  open();
  await scene.fleet({ size: 1 });
  await scene.settle();
  await expectNoCosts(scene, held.length);
});

const submits = 100;
const small = (n: number) => ({ n: 1, ms: 1, name: `job ${n}` });

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  fault(`F32 ${signal} of a process with 100 submits in flight`, async (scene) => {
    // Somebody else is just submitting some of the same jobs: whoever comes to these has to wait for that transaction, and
    // so is in the middle of a submit when the signal comes, for certain.
    const from = 30 + Math.floor(scene.random() * 40);
    const other = await scene.connect();
    // The first of its type writes the blueprint: nobody should have to wait for that.
    await scene.submit(small(submits - 1));
    let submitter: Submitter | undefined;
    let leaving: Promise<number | null> | undefined;
    await other.db
      .transaction(async (db) => {
        const in_the_way = Array.from({ length: 20 }, (_, n) => ({ parameters: small(from + n) }));
        await other.submitMany("chain", in_the_way, { db });
        submitter = new Submitter(
          scene,
          Array.from({ length: submits }, (_, n) => small(n)),
        );
        await eventually(async () => (await waitingSubmits(scene)) > 0 && submitter!.acknowledged.length > 0);
        leaving = submitter.end(signal);
        // It cannot leave in peace before it is answered; and not at all later than it must.
        if (signal === "SIGKILL") await leaving;
        throw new Error("changed its mind");
      })
      .catch((error: Error) => expect(error.message).toBe("changed its mind"));
    const code = await leaving!;
    const { acknowledged, settled } = submitter!;
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(code).toBe(signal === "SIGTERM" ? 0 : null);
    // Asked to leave, it had a definite answer for every one of them; killed, it could not.
    if (signal === "SIGTERM") expect(settled).toBe(submits);
    else expect(acknowledged.length).toBeLessThan(submits);
    await eventually(async () => (await sessionsOf(scene, submitter!)) === 0);

    const jobs = await scene.db.sql<{ job_id: string; stages: number; ready: number }>`
      select j.job_id,
             (select count(*) from app.stages s where s.job_id = j.job_id) as stages,
             (select count(*) from app.ready r join app.stages s using (stage_id) where s.job_id = j.job_id) as ready
        from app.jobs j`;
    // No half job: all its stages, and its first task ready.
    expect(jobs.filter(({ stages, ready }) => stages !== 4 || ready !== 1)).toEqual([]);
    const there = new Set(jobs.map(({ job_id }) => job_id));
    expect(acknowledged.filter((job_id) => !there.has(job_id))).toEqual([]);
    // The same again settles it: what was there is found, the rest is made, nothing twice.
    let created = 0;
    for (let n = 0; n < submits; n++) if ((await scene.submit(small(n))).created) created++;
    expect(created).toBe(submits - there.size);
    const [all] = await scene.db.sql<{ n: number }>`select count(*) as n from app.jobs`;
    expect(all!.n).toBe(submits);
    scene.notes.push(`${acknowledged.length} acknowledged, ${there.size} were there`);
    await scene.fleet({ size: 1 });
  });
}

async function waitingSubmits(scene: Scene): Promise<number> {
  const rows = await scene.db.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'submit_(jobs|kept)'`;
  return rows.length;
}

/** A pooler's own session keeps the name of whom it served last, and does nothing. */
async function sessionsOf(scene: Scene, { name }: Submitter): Promise<number> {
  const rows = await scene.db.sql`
    select from pg_stat_activity
     where datname = current_database() and application_name like ${`${name}%`}
       and not (state = 'idle' and ${is_pooled}::boolean)`;
  return rows.length;
}

fault("F33 everything is restarted in turn, under load", async (scene) => {
  const size = 2;
  const fleet = await scene.fleet({ size, options: { lease_s: 10 } });
  const load = keepSubmitting(scene);
  await scene.submit({ n: 200, ms: 30 });
  await scene.progress(50);
  await restartWorkers();
  // Up to here everybody said goodbye, so nothing was lost; a server that is away may cost leases.
  expect(await costs()).toEqual({ failed: 0, lost: 0 });
  const starts = scene.cluster.startCount();
  await scene.cluster.restart("fast", 300);
  expect(scene.cluster.startCount()).toBe(starts + 1);
  await restartWorkers();
  const jobs = await load.stop();
  await scene.settle();
  const { failed, lost } = await costs();
  expect(failed).toBe(0);
  expect(fleet.deaths.map(({ code }) => code)).toEqual(Array(2 * size).fill(0));
  scene.notes.push(`${2 * size} workers and the server restarted under ${jobs} small jobs, ${lost} attempts lost`);

  async function restartWorkers(): Promise<void> {
    for (let place = 0; place < size; place++) {
      const leaving = fleet.members[place]!;
      await leaving.said("ready");
      await leaving.stop();
      await eventually(() => fleet.members[place] !== leaving);
      await fleet.members[place]!.said("ready");
    }
  }
  async function costs(): Promise<{ failed: number; lost: number }> {
    const [row] = await scene.patiently(
      () => scene.db.sql<{ failed: number; lost: number }>`
        select count(*) filter (where outcome = 'failed') as failed, count(*) filter (where outcome = 'lost') as lost
          from app.attempts`,
    );
    return row!;
  }
});
