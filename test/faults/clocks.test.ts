// F13, F14: wrong clocks. Only the database's counts, and that one may be set back as well.
import { afterAll, expect } from "vitest";
import { eventually } from "../worker/shop.js";
import { fault, serverEnvironment } from "./fault.js";
import { taskCount } from "./job.js";
import type { Scene } from "./scene.js";
import { makeServerClock } from "./server_clock.js";
import type { Fleet } from "./worker_process.js";

const hour = 3_600_000;
const day = 24 * hour;
const wrong_clocks = [
  { offset_ms: hour },
  { offset_ms: -hour },
  { offset_ms: day },
  { offset_ms: -day, jump_ms: 12 * hour },
];

async function databaseTime(scene: Scene): Promise<string> {
  const [row] = await scene.db.sql<{ at: string }>`select clock_timestamp()::text as at`;
  return row!.at;
}

fault("F13 the clocks of workers are hours and days off, and jump", async (scene) => {
  const began_at = await databaseTime(scene);
  const fleet = await scene.fleet({ size: 4, first: (place) => ({ clock: wrong_clocks[place]! }) });
  // The proof can fail: they do believe what they are told.
  for (const [place, { lines }] of fleet.members.entries()) {
    const believed = Number(lines[0]!.split(" ")[2]) - Date.now();
    const { offset_ms, jump_ms = 0 } = wrong_clocks[place]!;
    expect(Math.abs(believed - offset_ms)).toBeLessThan(jump_ms + hour / 2);
  }
  await scene.submit({ n: 300, ms: 30, fail_every: 20, log: true });
  const { task_id } = await scene.engine.enqueue("lone", {}, { delay_s: 2 });
  const { run_at } = await scene.engine.task(task_id);
  await scene.settle();
  await eventually(async () => (await scene.engine.task(task_id)).status === "completed");
  // Neither early nor an hour late: run_at was the database's, and so was the clock that met it.
  const { finished_at } = await scene.engine.task(task_id);
  expect(Date.parse(finished_at!)).toBeGreaterThanOrEqual(Date.parse(run_at!));
  expect(Date.parse(finished_at!) - Date.parse(run_at!)).toBeLessThan(hour / 2);
  // No time in the database is from a worker.
  const strange = await scene.db.sql`
    with times as (
      select 'results' as place, finished_at as at from app.results
      union all select 'attempts', ended_at from app.attempts
      union all select 'retries', retry_at from app.attempts where retry_at is not null
      union all select 'logs', at from app.task_logs
      union all select 'events', at from app.events
      union all select 'heartbeats', heartbeat_at from app.workers
      union all select 'starts', started_at from app.workers
      union all select 'jobs', finished_at from app.jobs)
    select place, at from times
     where at < ${began_at}::text::timestamptz - interval '1 second' or at > clock_timestamp() + interval '10 minutes'`;
  expect(strange).toEqual([]);
  const [logged] = await scene.db.sql<{ n: number }>`select count(*) as n from app.task_logs`;
  expect(logged!.n).toBeGreaterThanOrEqual(300);
});

/** A lease well below the step and well above what a busy machine delays a heartbeat by. */
const lease_s = 9;
const step_s = 30;

/** Resolves when every worker has been heard of twice more. */
async function twoHeartbeats(scene: Scene): Promise<void> {
  const heard = async () => {
    const rows = await scene.db.sql<{ worker_id: string; at: string }>`
      select worker_id::text, heartbeat_at::text as at from app.workers`;
    return new Map(rows.map(({ worker_id, at }) => [worker_id, at]));
  };
  for (let beat = 0; beat < 2; beat++) {
    const before = await heard();
    await eventually(async () => [...(await heard())].every(([worker_id, at]) => before.get(worker_id) !== at));
  }
}

async function startDrain(scene: Scene): Promise<Fleet> {
  const fleet = await scene.fleet({ options: { lease_s } });
  await scene.submit({ ms: 60, fail_every: 50 });
  await scene.progress(50);
  return fleet;
}

async function expectNobodyLost(scene: Scene): Promise<void> {
  expect(await scene.db.sql`select worker_id from app.workers where status = 'lost'`).toEqual([]);
  expect(await scene.db.sql`select from app.attempts where outcome = 'lost'`).toEqual([]);
}

const clock = makeServerClock();
if (clock !== null) {
  serverEnvironment(clock.env);
  afterAll(clock.remove);

  fault("F14 the database's clock steps back 30 s, and forward again", async (scene) => {
    try {
      await startDrain(scene);
      // What became ready in the last half minute is not due for another one, once the clock has gone back: known, and not
      // what this is about.
      await scene.db.sql`update app.ready set run_at = now() - interval '1 hour'`;
      clock.set(-step_s);
      expect(Date.parse(await databaseTime(scene)) - Date.now()).toBeLessThan(-step_s * 900);
      await twoHeartbeats(scene);
      await expectNobodyLost(scene);
      await scene.settle();
      await expectNobodyLost(scene);
      // Forward is as if everybody had been silent for as long: whoever is declared lost so is fenced, and nothing breaks.
      await scene.submit({ ms: 60, name: "after" });
      await scene.progress(taskCount() + 40);
      clock.set(0);
      await scene.settle();
      const lost = await scene.db.sql`select from app.workers where status = 'lost'`;
      scene.notes.push(`${lost.length} workers declared lost by the step forward`);
    } finally {
      clock.set(0);
    }
  });
}

fault("F14 heartbeats lie 30 s in the future, as after the database's clock went back", async (scene) => {
  const fleet = await startDrain(scene);
  // One of them dies at that moment: its lease is longer by the step, and must not be shorter.
  const victim = fleet.working[0]!;
  victim.freeze();
  await scene.db.sql`update app.workers set heartbeat_at = heartbeat_at + make_interval(secs => ${step_s}::float8)`;
  await twoHeartbeatsOfOthers(scene, victim.pid);
  await expectNobodyLost(scene);
  victim.thaw();
});

async function twoHeartbeatsOfOthers(scene: Scene, pid: number): Promise<void> {
  for (let beat = 0; beat < 2; beat++) {
    const [before] = await scene.db.sql<{ at: string }>`select clock_timestamp()::text as at`;
    await eventually(async () => {
      const silent = await scene.db.sql`
        select from app.workers
         where pid <> ${pid}::integer
           and not heartbeat_at between ${before!.at}::text::timestamptz and clock_timestamp()`;
      return silent.length === 0;
    });
  }
}
