// F15, F16, F37: many janitors at once, janitors that die at their work, and rows that are gone when somebody comes for them.
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { expect } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { Janitor, type Sweep } from "../../src/engine/upkeep/janitor.js";
import { submit } from "../engine/floor.js";
import { eventually } from "../worker/shop.js";
import { deadlocksIn } from "./cluster.js";
import { fault } from "./fault.js";
import { killWorkers } from "./nemesis.js";
import type { Scene } from "./scene.js";

const log = pino({ enabled: false });

/** Nobody runs this type: its jobs stay as they are until a janitor, or the test, does something about them. */
const nobodys = [{ name: "wait", task: "nobody.runs_this", plan: { count: 3 } }];

/** Every duty, also those that are left out when another sweep has just begun. */
async function sweepAll(db: Database, janitor: Janitor): Promise<Sweep> {
  await db.sql`update app.janitor set last_run_at = null`;
  return janitor.sweep();
}

/** What janitors did, and how often each of it. */
async function actions(scene: Scene): Promise<{ action: string; target: string; times: number }[]> {
  return scene.db.sql`
    select action, target || coalesce(' ' || (data ->> 'stage'), '') as target, job_id, count(*)::integer as times
      from app.janitor_actions group by 1, 2, 3 order by 1, 2, 3`;
}

/** Ten jobs past their deadline, ten whose tasks have vanished, ten pieces of a job that is over: in one transaction each. */
async function makeTrouble(scene: Scene): Promise<{ late: string[]; broken: string[]; over: string }> {
  const { db } = scene;
  const late: string[] = [];
  const broken: string[] = [];
  for (let n = 0; n < 10; n++) {
    late.push((await submit(db, nobodys, { late: n })).job_id);
    broken.push((await submit(db, nobodys, { broken: n })).job_id);
  }
  const { job_id: over } = await submit(db, nobodys, { over: true });
  await scene.engine.cancelJob(over);
  const list = (ids: string[]) => ids.map((id) => `'${id}'`).join();
  await db.script(`
    update app.jobs set deadline_at = now() - interval '1 s' where job_id in (${list(late)});
    delete from app.ready where stage_id in (select stage_id from app.stages where job_id in (${list(broken)}));
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type)
    select stage_id, n, n + 1, 'default', task_type from app.stages, generate_series(0, 9) n where job_id = '${over}'`);
  return { late, broken, over };
}

/** Everything that was to be done about the trouble is done, and each of it once. */
async function expectDoneOnce(scene: Scene, { late, broken }: { late: string[]; broken: string[] }): Promise<void> {
  const done = await actions(scene);
  expect(done.filter(({ times }) => times !== 1)).toEqual([]);
  const targets = (action: string) => done.filter((one) => one.action === action).map(({ target }) => target);
  expect(targets("expired").sort()).toEqual(late.map((id) => `job ${id}`).sort());
  const mended = await scene.db.sql<{ job_id: string }>`select job_id from app.janitor_actions where action = 'mended'`;
  expect(mended.map(({ job_id }) => job_id).sort()).toEqual([...broken].sort());
  expect(targets("removed")).toHaveLength(10);
  const ended = await scene.db.sql<{ job_id: string }>`select job_id from app.events where kind = 'job.failed'`;
  expect(ended.map(({ job_id }) => job_id).sort()).toEqual([...late].sort());
  // A worker's tasks are lost once with it, and not once per janitor.
  const twice = await scene.db.sql`
    select stage_id, ordinal, worker_id from app.attempts where outcome = 'lost' group by 1, 2, 3, epoch having count(*) > 1`;
  expect(twice).toEqual([]);
}

async function isDone(scene: Scene): Promise<boolean> {
  const [row] = await scene.db.sql<{ expired: number; mended: number; removed: number }>`
    select count(*) filter (where action = 'expired') as expired, count(*) filter (where action = 'mended') as mended,
      count(*) filter (where action = 'removed') as removed from app.janitor_actions`;
  return row!.expired >= 10 && row!.mended >= 10 && row!.removed >= 10;
}

fault("F15 ten janitors at once, while workers are killed", async (scene) => {
  const fleet = await scene.fleet();
  await scene.submit({ ms: 40 });
  await scene.progress(20);
  let stopped = false;
  let sweeps = 0;
  const janitors = Array.from({ length: 10 }, async () => {
    const { db } = await scene.connect();
    const janitor = new Janitor({ db, log });
    const failed: string[] = [];
    for (; !stopped; sweeps++) {
      failed.push(...(await sweepAll(db, janitor)).failed);
      await sleep(20);
    }
    return failed;
  });
  for (const janitor of janitors) janitor.catch(() => {});
  // While there is work: on a busy machine making the trouble takes longer than the job.
  const [trouble, killed] = await Promise.all([
    makeTrouble(scene),
    killWorkers(scene, fleet, { pause_ms: 500, most: 4 }),
  ]);
  expect(killed.length).toBeGreaterThan(1);
  await eventually(() => isDone(scene));
  await scene.settle();
  // A worker that is killed with nothing in its hands keeps no job waiting, so that it may be found lost after the last one.
  const lost = () => scene.db.sql`select from app.workers where status = 'lost'`;
  await eventually(async () => (await lost()).length >= killed.length);
  stopped = true;
  expect((await Promise.all(janitors)).flat()).toEqual([]);
  scene.notes.push(`${sweeps} sweeps, ${killed.length} kills`);
  await expectDoneOnce(scene, trouble);
  expect(await lost()).toHaveLength(killed.length);
  expect(deadlocksIn(scene.cluster.log())).toEqual([]);
  for (const job_id of trouble.broken) await scene.engine.cancelJob(job_id);
});

fault("F16 janitors are killed at every place between their duties", async (scene) => {
  // They run nothing, so that they die with nothing in their hands but the sweep.
  const options = { types: ["lone"] };
  const dead = await scene.worker();
  const { until, open } = scene.gate();
  const hold = { stage: "make", ordinals: [0, 1, 2, 3], until };
  await scene.submit({ n: 100, hold });
  await eventually(() => scene.effects().length >= 4);
  await dead.kill();
  open();
  const trouble = await makeTrouble(scene);
  // Eight duties before the last: somebody dies after each, the first right after a sweep began. Whoever comes later finds
  // what the others had left half done.
  const places = [1, 2, 3, 4, 5, 6, 7, 8];
  const doomed = places.map((place) => scene.worker({ options, faults: `mid-sweep:kill9@${place}` }));
  for (const janitor of await Promise.all(doomed)) expect(await janitor.exited).toMatchObject({ signal: "SIGKILL" });
  await scene.fleet({ size: 2 });
  await eventually(() => isDone(scene));
  await scene.settle();
  await expectDoneOnce(scene, trouble);
  // There is nothing left: further sweeps change nothing.
  const before = await actions(scene);
  const janitor = new Janitor({ db: scene.db, log });
  for (let again = 0; again < 3; again++) {
    const { lost_workers, tasks, expired_jobs, expired_tasks, mended, swept, alerts, failed } = await sweepAll(
      scene.db,
      janitor,
    );
    expect({ tasks, expired_jobs, expired_tasks, mended, swept, alerts, failed }).toEqual({
      tasks: 0,
      expired_jobs: 0,
      expired_tasks: 0,
      mended: 0,
      swept: 0,
      alerts: [],
      failed: [],
    });
    // The leases of the killed end one after the other.
    expect(lost_workers).toBeLessThanOrEqual(places.length);
  }
  expect(await actions(scene)).toEqual(before);
  for (const job_id of trouble.broken) await scene.engine.cancelJob(job_id);
});

const held = [0, 1, 2, 3];

/** Runs held tasks that do not stop when they are told to, and waits until they all run. */
async function holdTasks(scene: Scene, name: string): Promise<{ job_id: string; open(): void }> {
  const { until, open } = scene.gate();
  const { job_id } = await scene.submit({
    n: 20,
    name,
    hold: { stage: "make", ordinals: held, until, stubborn: true },
  });
  await eventually(
    () => scene.effects().filter((one) => one.job_id === job_id && held.includes(one.ordinal)).length === 4,
  );
  return { job_id, open };
}

async function orphans(scene: Scene): Promise<Record<string, unknown>> {
  const [row] = await scene.db.sql`
    select (select count(*) from app.results r where not exists (select from app.stages s where s.stage_id = r.stage_id)) as results,
      (select count(*) from app.ready r where not exists (select from app.stages s where s.stage_id = r.stage_id)) as ready,
      (select count(*) from app.claims k where not exists (select from app.stages s where s.stage_id = k.stage_id)) as claims`;
  return row!;
}

const none = { results: 0, ready: 0, claims: 0 };

fault("F37 a job is pruned while its tasks run", async (scene) => {
  const worker = await scene.worker({ options: { abort_grace_s: 60 } });
  const { job_id, open } = await holdTasks(scene, "pruned");
  await scene.prune(job_id);
  open();
  // What its handlers return is refused and forgotten; the worker goes on.
  const [live] = await scene.db.sql<{
    worker_id: string;
  }>`select worker_id::text from app.workers where status = 'live'`;
  await scene.submit({ n: 50, name: "other" });
  await scene.settle();
  expect(await orphans(scene)).toEqual(none);
  const [still] = await scene.db.sql<{
    worker_id: string;
  }>`select worker_id::text from app.workers where status = 'live'`;
  expect(still).toEqual(live);
  const stats = await worker.stop();
  scene.notes.push(`${stats!.refused} refused, ${stats!.dropped} dropped`);
  expect(stats!.fenced).toBe(0);
});

fault("F37 a job is pruned, but what workers hold and what is ready was left behind", async (scene) => {
  const worker = await scene.worker({ options: { abort_grace_s: 60 } });
  const { job_id, open } = await holdTasks(scene, "half pruned");
  // Also the ledger, of a job whose rows go in several transactions: its claims are the last that is left of it.
  await scene.prune(job_id, { keep: ["claims", "ready"] });
  open();
  await scene.submit({ n: 50, name: "other" });
  await scene.settle();
  await eventually(async () => {
    const left = await orphans(scene);
    return left.ready === 0 && left.claims === 0;
  });
  expect(await orphans(scene)).toEqual(none);
  const stats = await worker.stop();
  expect(stats!.fenced).toBe(0);
  scene.notes.push(`${stats!.refused} refused, ${stats!.dropped} dropped`);
});

fault("F37 a task that stands alone is deleted while it runs", async (scene) => {
  const worker = await scene.worker({ options: { abort_grace_s: 60 } });
  const { until, open } = scene.gate();
  const { task_id } = await scene.engine.enqueue("lone.held", { until });
  await eventually(() => scene.effects().length > 0);
  const [stage_id, ordinal] = task_id.split("-").map(Number) as [number, number];
  await scene.db.script(`
    delete from app.claims where stage_id = ${stage_id} and held @> ${ordinal}::bigint;
    delete from app.tasks where stage_id = ${stage_id} and ordinal = ${ordinal}`);
  open();
  await eventually(async () => {
    const refused = await scene.db.sql`select from app.attempts where outcome = 'refused'`;
    return refused.length === 1;
  });
  await scene.submit({ n: 20 });
  await scene.settle();
  expect(await scene.db.sql`select from app.results where stage_id = ${stage_id}::bigint`).toEqual([]);
  const stats = await worker.stop();
  expect([stats!.refused, stats!.fenced]).toEqual([1, 0]);
});
