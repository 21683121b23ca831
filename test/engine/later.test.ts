// Jobs that start later, and what of a job is changed after its submit.
import { expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, expectSound, finish, one, register, submit } from "./floor.js";

const stages = [{ name: "only", task: "t.later" }];
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
let number = 0;
const job = (db: Queryable, options: object = {}, how: { name: string; task: string }[] = stages) =>
  submit(db, how, { later: number++ }, { options });
const seen = async (db: Queryable, job_id: string) =>
  (await one(db.sql<{ reply: Record<string, unknown> }>`select app.get_job(${job_id}) as reply`)).reply;
const startDue = async (db: Queryable) =>
  (await one(db.sql<{ reply: { started: number; wait_s: number | null } }>`select app.start_due_jobs() as reply`))
    .reply;
const why = async (db: Queryable, job_id: string) =>
  (await one(db.sql<{ reply: { code: string; heals_at: string } }>`select app.why(${job_id}) as reply`)).reply;
/** Its time is now. */
const pass = (db: Queryable, job_id: string) =>
  db.sql`update app.jobs set starts_at = now() - interval '1 second' where job_id = ${job_id}`;

bothDatabases("later", (open) => {
  test("a job with run_at waits, says so, and starts when its time has come", async () => {
    const db = await open();
    const worker = await register(db);
    const run_at = tomorrow();
    const later = await job(db, { run_at, deadline_s: 60, deadline_from: "submit" });
    expect(await seen(db, later.job_id)).toMatchObject({
      status: "queued",
      waits_for: 1,
      deadline_at: null,
      hint: "it waits for its time",
    });
    expect(new Date((await seen(db, later.job_id)).run_at as string).toISOString()).toBe(run_at);
    expect(await why(db, later.job_id)).toMatchObject({ code: "NOT_YET" });
    expect(await claim(db, worker, ["t.later"])).toEqual([]);
    const { started, wait_s } = await startDue(db);
    expect(started).toBe(0);
    expect(wait_s).toBeGreaterThan(86_000);
    await pass(db, later.job_id);
    expect((await startDue(db)).started).toBe(1);
    expect(await startDue(db)).toMatchObject({ started: 0 });
    const held = await claim(db, worker, ["t.later"]);
    expect(held).toHaveLength(1);
    await finish(db, worker, held);
    expect((await seen(db, later.job_id)).status).toBe("completed");
    await expectSound(db);
  });

  test("where no job waits for its time, nobody is told to look again at once", async () => {
    expect(await startDue(await open())).toEqual({ started: 0, wait_s: null });
  });

  test("a time that is past is now", async () => {
    const db = await open();
    const worker = await register(db);
    const now = await job(db, { run_at: "2020-01-01T00:00:00Z" });
    expect(await seen(db, now.job_id)).toMatchObject({ waits_for: 0 });
    expect(await claim(db, worker, ["t.later"])).toHaveLength(1);
  });

  test("time and other jobs are both waited for, in either order", async () => {
    const db = await open();
    const worker = await register(db);
    for (const first of ["time", "job"]) {
      const a = await job(db);
      const b = await job(db, { depends_on: [a.job_id], run_at: tomorrow() }, [{ name: "only", task: "t.both" }]);
      const end = async () => finish(db, worker, await claim(db, worker, ["t.later"]));
      const come = async () => {
        await pass(db, b.job_id);
        await startDue(db);
      };
      await (first === "time" ? come() : end());
      expect([first, (await seen(db, b.job_id)).waits_for]).toEqual([first, 1]);
      expect(await claim(db, worker, ["t.both"])).toEqual([]);
      expect((await why(db, b.job_id)).code).toBe(first === "time" ? "WAITING_DEPENDENCY" : "NOT_YET");
      await (first === "time" ? end() : come());
      const held = await claim(db, worker, ["t.both"]);
      expect([first, held.length]).toEqual([first, 1]);
      await finish(db, worker, held);
    }
  });

  test("one that is cancelled before its time does not start, and resumed it waits for its time", async () => {
    const db = await open();
    const { job_id } = await job(db, { run_at: tomorrow() });
    await db.sql`select app.cancel_job(${job_id})`;
    await pass(db, job_id);
    expect((await startDue(db)).started).toBe(0);
    await db.sql`select app.resume_job(${job_id})`;
    expect(await seen(db, job_id)).toMatchObject({ status: "queued", waits_for: 1 });
    expect((await startDue(db)).started).toBe(1);
    const worker = await register(db);
    await drain(db, worker, ["t.later"]);
    expect(await seen(db, job_id)).toMatchObject({ status: "completed" });
  });

  test("priority, attempts and time of a job are changed while it has not ended", async () => {
    const db = await open();
    const worker = await register(db);
    const [low, high] = [await job(db), await job(db)];
    const change = async (fields: object, id = high.job_id) => {
      const { priority = null, attempts = null, run_at = null, dry_run = false } = fields as Record<string, never>;
      const { reply } = await one(
        db.sql<{ reply: { changed: boolean; priority: number; queued: number } }>`select app.change_job(
          ${id}, ${priority}::integer, ${attempts}::integer, ${run_at}::timestamptz, 'urgent', ${dry_run}::boolean, actor => 'ann') as reply`,
      );
      return reply;
    };
    expect(await change({ priority: 7, dry_run: true })).toMatchObject({ changed: false, priority: 7, queued: 1 });
    expect(await change({ priority: 7, attempts: 1 })).toMatchObject({ changed: true, priority: 7 });
    expect(await change({ priority: 7, attempts: 1 })).toMatchObject({ changed: false });
    const [first] = await claim(db, worker, ["t.later"], 1);
    const [task] = await db.sql<{ job_id: string }>`select job_id from app.stages where stage_id = ${first!.stage_id}`;
    expect(task!.job_id).toBe(high.job_id);
    // One attempt is all it has now.
    await finish(db, worker, [first!], () => ({ category: "transient", code: "x", message: "x" }));
    expect(await seen(db, high.job_id)).toMatchObject({ status: "failed" });
    await expect(change({ priority: 1 })).rejects.toThrow("which is final");
    await expect(change({ run_at: tomorrow() }, low.job_id)).rejects.toThrow("does not wait for a time");
    await expect(change({}, low.job_id)).rejects.toThrow("nothing is to be changed");
    await expect(change({ priority: 99_999 }, low.job_id)).rejects.toThrow("a priority is from");
    const timed = await job(db, { run_at: tomorrow() });
    await change({ run_at: "2020-01-01T00:00:00Z" }, timed.job_id);
    expect((await startDue(db)).started).toBe(1);
  });

  test("a secret is not kept as a parameter, by the short way or the long one", async () => {
    const db = await open();
    await expect(submit(db, stages, { webhook_secret: "whsec_x" })).rejects.toThrow("a secret is not kept with a job");
    await submit(db, stages, { plain: true });
    const hash = (await one(db.sql<{ h: string }>`select blueprint_hash as h from app.blueprints limit 1`)).h;
    const parameters = '{"webhook_secret":"whsec_x"}';
    const [row] = await db.sql<{ r: unknown }>`select app.submit_kept_job(${hash}, ${parameters}) as r`;
    expect(row!.r).toBeNull();
    // A text that only speaks of one is no secret.
    expect(await submit(db, stages, { note: '"webhook_secret" is what it was called' })).toMatchObject({
      created: true,
    });
    expect(await db.sql`select from app.jobs where parameters ? 'webhook_secret'`).toEqual([]);
  });
});
