// The history of queues: what ended is counted in its minute exactly once, whatever dies on the way; what waits is looked at now and then.
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { Janitor } from "../../src/engine/upkeep/janitor.js";
import type { QueueRecord } from "../../src/engine/verbs/queries.js";
import { bothDatabases } from "../postgres.js";
import { claim, finish, register, submit } from "./floor.js";

const types = ["t.make", "t.lone"];
const wide = (count: number) => [{ name: "make", task: "t.make", plan: { count } }];
const permanent = { category: "permanent" };

interface Counted {
  tenant_id: string;
  task_type: string;
  completed: number;
  failed: number;
}

const fold = async (db: Queryable) =>
  (await db.sql<{ reply: { notes: number; more: boolean } }>`select app.fold_rates() as reply`)[0]!.reply;
const sample = async (db: Queryable) =>
  (await db.sql<{ reply: { sampled: boolean } }>`select app.sample_queues() as reply`)[0]!.reply.sampled;
/** Over all minutes: a test may run across the turn of one. */
const counted = (db: Queryable) =>
  db.sql<Counted>`
    select tenant_id, task_type, sum(completed)::int as completed, sum(failed)::int as failed
      from app.rate_minutes group by 1, 2 having sum(completed) <> 0 or sum(failed) <> 0 order by 1, 2`;
const queues = async (db: Queryable, tenant = "default", minutes = 60) => {
  const [row] = await db.sql<{ reply: { queues: QueueRecord[] } }>`
    select app.list_queues(${minutes}::integer, ${tenant}) as reply`;
  return row!.reply.queues;
};

bothDatabases("rates", (open) => {
  const floor = async () => {
    const db = (await open()) as Database;
    return { db, worker: await register(db, types, 3600) };
  };

  test("what ended is counted once, of jobs and of lone tasks, however often it is folded", async () => {
    const { db, worker } = await floor();
    await submit(db, wide(5));
    await db.sql`select app.enqueue('t.lone', '{}'), app.enqueue('t.lone', '{"n": 1}')`;
    const held = await claim(db, worker, types);
    const make = held.filter(({ stage }) => stage === "make");
    await finish(db, worker, make.slice(0, 2));
    await finish(db, worker, make.slice(2), ({ ordinal }) => (ordinal === 4 ? permanent : {}));
    await finish(
      db,
      worker,
      held.filter(({ stage }) => stage !== "make"),
    );
    expect(await counted(db)).toEqual([]);
    expect((await fold(db)).notes).toBe(3);
    const all = [
      { tenant_id: "default", task_type: "t.lone", completed: 2, failed: 0 },
      { tenant_id: "default", task_type: "t.make", completed: 4, failed: 1 },
    ];
    expect(await counted(db)).toEqual(all);
    expect(await fold(db)).toEqual({ notes: 0, more: false });
    expect(await counted(db)).toEqual(all);
  });

  test("neither an attempt that will be repeated counts nor a finish that was rolled back", async () => {
    const { db, worker } = await floor();
    await submit(db, wide(2));
    const held = await claim(db, worker, types);
    await finish(db, worker, held.slice(0, 1), () => ({ category: "transient" }));
    const died = new Error("died before it was committed");
    await expect(
      db.transaction(async (tx) => {
        await finish(tx, worker, held.slice(1));
        throw died;
      }),
    ).rejects.toThrow(died);
    await fold(db);
    expect(await counted(db)).toEqual([]);
  });

  test("a fold that dies half-way counts nothing, and the next one counts all", async () => {
    const { db, worker } = await floor();
    await submit(db, wide(3));
    await finish(db, worker, await claim(db, worker, types));
    await expect(
      db.transaction(async (tx) => {
        expect((await fold(tx)).notes).toBe(1);
        expect(await counted(tx)).toMatchObject([{ completed: 3 }]);
        throw new Error("killed");
      }),
    ).rejects.toThrow("killed");
    expect(await counted(db)).toEqual([]);
    expect((await fold(db)).notes).toBe(1);
    expect(await counted(db)).toMatchObject([{ completed: 3 }]);
  });

  test("what was finished into a stage that had closed is not counted", async () => {
    const { db, worker } = await floor();
    await submit(db, wide(3));
    const held = await claim(db, worker, types);
    await finish(db, worker, held.slice(0, 1));
    await db.sql`update app.stage_progress set is_open = false`;
    await db.sql`update app.stages set status = 'cancelled', closed_at = now() where job_id is not null`;
    await finish(db, worker, held.slice(1), ({ ordinal }) => (ordinal === 2 ? permanent : {}));
    await fold(db);
    expect(await counted(db)).toEqual([{ tenant_id: "default", task_type: "t.make", completed: 1, failed: 0 }]);
  });

  test("the janitor folds and looks, looks no oftener than it should, and forgets what is older than a day", async () => {
    const { db, worker } = await floor();
    const janitor = new Janitor({ db, log: pino({ enabled: false }) });
    await db.sql`
      insert into app.rate_minutes (tenant_id, task_type, minute, completed)
      select 'default', 't.old', date_trunc('minute', now()) - make_interval(hours => h), 1 from (values (23), (25)) v(h)`;
    await db.sql`insert into app.rate_samples values (now() - interval '25 hours', now() - interval '25 hours', 1)`;
    await submit(db, wide(6));
    await finish(db, worker, (await claim(db, worker, types, 4)).slice(0, 3));
    await janitor.sweep();
    expect(
      await db.sql`select task_type, completed::int, due::int, running::int from app.rate_minutes order by minute, task_type`,
    ).toEqual([
      { task_type: "t.old", completed: 1, due: null, running: null },
      { task_type: "t.make", completed: 3, due: 2, running: 1 },
    ]);
    expect(await db.sql`select vitals is not null as vitals from app.rate_samples`).toEqual([{ vitals: true }]);
    expect(await sample(db)).toBe(false);
    await db.sql`update app.rate_samples set sampled_at = sampled_at - interval '1 hour'`;
    expect(await sample(db)).toBe(true);
  });

  test("a queue that has emptied within its minute is empty in its history, and nobody's look is null", async () => {
    const { db, worker } = await floor();
    await submit(db, wide(4));
    const [{ minute } = { minute: "" }] = await db.sql<{
      minute: string;
    }>`select date_trunc('minute', now())::text as minute`;
    expect(await sample(db)).toBe(true);
    await finish(db, worker, await claim(db, worker, types));
    await fold(db);
    await db.sql`update app.rate_samples set sampled_at = sampled_at - interval '1 hour'`;
    expect(await sample(db)).toBe(true);
    const at = await db.sql`
      select due::int, running::int, completed::int from app.rate_minutes where minute = ${minute}::text::timestamptz`;
    expect(at).toMatchObject([{ due: 0, running: 0 }]);
    const [queue] = await queues(db, "default", 10);
    const { history } = queue!;
    expect(history!.completed).toHaveLength(10);
    expect(history!.completed.reduce((sum, n) => sum + n)).toBe(4);
    expect(history!.queued.slice(0, 8)).toEqual(Array(8).fill(null));
    expect(history!.queued.filter((n) => n !== null).at(-1)).toBe(0);
    const day = (await queues(db, "default", 1440))[0]!.history!;
    expect([day.step_s, day.completed.length, day.completed.reduce((sum, n) => sum + n)]).toEqual([720, 120, 4]);
  });

  test("queues tell what waits, retries and runs of a tenant, why nothing is taken, and nothing of others", async () => {
    const { db, worker } = await floor();
    await db.sql`select app.create_tenant('acme')`;
    await submit(db, wide(9), {}, { tenant: "acme" });
    const { job_id } = await submit(db, wide(5));
    await submit(db, [{ name: "odd", task: "t.odd" }], { n: 1 });
    await db.sql`select app.enqueue('t.lone', '{}', run_at => now() + interval '1 hour')`;
    const held = (await claim(db, worker, types, 100)).filter(({ stage_id }) => stage_id > 0);
    const own = await db.sql<{ stage_id: number }>`select stage_id::int from app.stages where job_id = ${job_id}`;
    const mine = held.filter(({ stage_id }) => stage_id === own[0]!.stage_id);
    await finish(db, worker, mine.slice(0, 2), () => ({ category: "transient" }));
    await db.sql`select app.pause_type('t.lone', 'the post is on strike', actor => 'ada')`;
    const [first, second, third] = await queues(db);
    expect(first).toMatchObject({
      task_type: "t.odd",
      due: 1,
      running: 0,
      workers: 0,
      history: null,
      oldest_task_id: expect.any(String),
      problem: {
        code: "NO_WORKER_FOR_TYPE",
        action: { verb: "up" },
        reason: expect.stringContaining("no live worker registers it"),
      },
    });
    expect(second).toMatchObject({
      task_type: "t.lone",
      due: 0,
      later: 1,
      paused: { by: "ada", reason: "the post is on strike" },
      problem: { code: "QUEUE_PAUSED", action: { verb: "continue_type", task_type: "t.lone" } },
    });
    expect(third).toMatchObject({
      task_type: "t.make",
      due: 0,
      later: 2,
      retrying: 2,
      running: 3,
      workers: 1,
      slots: 4,
      problem: null,
    });
    expect(await queues(db, "acme")).toMatchObject([{ task_type: "t.make", running: 9, retrying: 0 }]);
    // Who drains takes nothing more.
    await db.sql`update app.workers set draining_at = now()`;
    expect((await queues(db)).find(({ task_type }) => task_type === "t.make")).toMatchObject({
      workers: 0,
      problem: { code: "NO_WORKER_FOR_TYPE", reason: "no worker is live" },
    });
  });
});
