// Two janitors, or a janitor and whom it is about, at the same moment: each duty looks again under its locks. The first has
// done its work and not committed when the second begins.
import { describe, expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { asked } from "../../src/engine/verbs/reply.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { claim, drain, expectSound, finish, type Held, register, status, submit } from "./floor.js";
import { twoSessions } from "./interleave.js";

const stages = [
  { name: "make", task: "t.make", plan: { count: 4 }, timeout_s: 10 },
  { name: "end", task: "t.end", parallelism: "fan_in" },
];
const types = ["t.make", "t.end"];

describe("janitors meet on a real server", () => {
  const floor = twoSessions();

  interface Scene {
    job_id: string;
    worker: string;
    held: Held[];
  }

  async function setScene(): Promise<Scene> {
    const { db } = floor;
    await floor.clear();
    await db.sql`delete from app.events`;
    const worker = await register(db, [], 3600);
    const { job_id } = await submit(db, stages, { scene: 1 });
    return { job_id, worker, held: await claim(db, worker, types, 2) };
  }

  const reap = (db: Queryable) => worker_commands.reap_workers(db);
  const actions = async () => {
    const rows = await floor.db.sql<{ action: string }>`select action from app.janitor_actions order by event_id`;
    return rows.map(({ action }) => action);
  };

  async function expectEnds({ job_id }: Scene): Promise<void> {
    const { db } = floor;
    await expectSound(db);
    await drain(db, await register(db, [], 3600), types);
    expect((await status(db, job_id)).status).toBe("completed");
    await expectSound(db);
  }

  test("a worker that two find silent is declared lost by one of them, and the other does not wait for it", async () => {
    const scene = await setScene();
    await floor.db.sql`update app.workers set heartbeat_at = 'epoch'`;
    const [first, second] = await floor.both(reap, reap);
    expect([first.lost_workers, first.tasks, second.lost_workers, second.tasks]).toEqual([1, 2, 0, 0]);
    expect(await actions()).toEqual(["took_back"]);
    await expectEnds(scene);
  });

  test("a heartbeat that is on its way when the lease is found over counts", async () => {
    const { worker, held } = await setScene();
    await floor.db.sql`update app.workers set heartbeat_at = 'epoch'`;
    const beat = { worker_id: worker, running: [], claims: [held[0]!.claim_id] };
    const [heard, reaped] = await floor.both((db) => worker_commands.heartbeat(db, beat), reap);
    expect([heard.ok, reaped.lost_workers]).toEqual([true, 0]);
    expect(await reap(floor.db)).toMatchObject({ lost_workers: 0 });
    expect(await finish(floor.db, worker, held)).toMatchObject({ accepted: 2, refused: [] });
  });

  test("a worker with a beating heart is left alone", async () => {
    const { worker, held } = await setScene();
    expect(await reap(floor.db)).toMatchObject({ lost_workers: 0 });
    expect(await finish(floor.db, worker, held)).toMatchObject({ accepted: 2 });
  });

  test("a worker that has stopped is not declared lost afterwards", async () => {
    const scene = await setScene();
    await floor.db.sql`update app.workers set heartbeat_at = 'epoch'`;
    const [, reaped] = await floor.both((db) => worker_commands.stop_worker(db, { worker_id: scene.worker }), reap);
    expect(reaped.lost_workers).toBe(0);
    await reap(floor.db);
    expect(await floor.db.sql`select status from app.workers`).toEqual([{ status: "stopped" }]);
    expect(await floor.db.sql`select from app.attempts where outcome = 'lost'`).toEqual([]);
    await expectEnds(scene);
  });

  test("what two would mend is mended once", async () => {
    const scene = await setScene();
    await finish(floor.db, scene.worker, scene.held);
    await floor.db.sql`delete from app.ready`;
    const mend = (db: Queryable) =>
      asked<{ mended: number }>(db.sql`select app.mend_job(gen_random_uuid(), 'default', ${scene.job_id}) as reply`);
    const [first, second] = await floor.both(mend, mend);
    expect([first.mended, second.mended]).toEqual([1, 0]);
    expect(await actions()).toEqual(["mended"]);
    await expectEnds(scene);
  });

  test("a stage whose last task is just being finished is not mended", async () => {
    const scene = await setScene();
    const { db } = floor;
    const rest = await claim(db, scene.worker, types, 2);
    await finish(db, scene.worker, scene.held);
    const mend = (late: Queryable) =>
      asked<{ mended: number }>(late.sql`select app.mend_job(gen_random_uuid(), 'default', ${scene.job_id}) as reply`);
    const [done, mended] = await floor.both((tx) => finish(tx, scene.worker, rest), mend);
    expect([done.advanced, mended.mended]).toEqual([true, 0]);
    expect(await actions()).toEqual([]);
    await expectEnds(scene);
  });

  const overdue = async ({ worker, held }: Scene) => {
    const running = held.map(({ claim_id, stage_id, ordinal }) => ({
      claim_id,
      stage_id,
      ordinal,
      elapsed_s: 100,
      progress: null,
    }));
    await worker_commands.heartbeat(floor.db, { worker_id: worker, running, claims: [held[0]!.claim_id] });
  };
  const expire = (db: Queryable) => asked<{ expired: number }>(db.sql`select app.expire_tasks() as reply`);

  test("an overdue task that two find is failed once", async () => {
    const scene = await setScene();
    await overdue(scene);
    const [first, second] = await floor.both(expire, expire);
    expect([first.expired, second.expired]).toEqual([2, 0]);
    expect(await floor.db.sql`select ordinal, attempt from app.attempts order by ordinal`).toEqual([
      { ordinal: 0, attempt: 1 },
      { ordinal: 1, attempt: 1 },
    ]);
    await expectSound(floor.db);
  });

  test("an overdue task that is just being finished has finished, and its neighbour is failed", async () => {
    const scene = await setScene();
    await overdue(scene);
    const [done, late] = await floor.both((db) => finish(db, scene.worker, scene.held.slice(0, 1)), expire);
    expect([done.accepted, late.expired]).toEqual([1, 1]);
    expect(await floor.db.sql`select ordinal from app.attempts`).toEqual([{ ordinal: 1 }]);
    await expectSound(floor.db);
  });

  test("a job past its deadline that two find is failed once", async () => {
    const { job_id } = await setScene();
    await floor.db.sql`update app.jobs set deadline_at = now() - interval '1 s'`;
    const late = (db: Queryable) => worker_commands.expire_jobs(db);
    const [first, second] = await floor.both(late, late);
    expect([first.expired, second.expired]).toEqual([1, 0]);
    expect(await actions()).toEqual(["expired"]);
    expect((await status(floor.db, job_id)).status).toBe("failed");
  });

  test("a claim without a worker that two find is taken back once", async () => {
    const scene = await setScene();
    await floor.db.sql`update app.claims set worker_id = gen_random_uuid()`;
    const sweep = (db: Queryable) => asked<{ swept: number }>(db.sql`select app.sweep_claims() as reply`);
    const [first, second] = await floor.both(sweep, sweep);
    expect([first.swept, second.swept]).toEqual([1, 0]);
    expect(await floor.db.sql`select from app.attempts`).toHaveLength(2);
    await expectEnds(scene);
  });
});
