// Deadlines count from the start of work, unless a submit says otherwise. Nothing sleeps: what has to be long ago is moved into the past.
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { Janitor } from "../../src/engine/upkeep/janitor.js";
import { bothDatabases } from "../postgres.js";
import { claim, one, register, status, submit } from "./floor.js";

const only = [{ name: "only", task: "t.only" }];

bothDatabases("deadlines", (open) => {
  async function floor() {
    const db = (await open()) as Database;
    const janitor = new Janitor({ db, log: pino({ enabled: false }) });
    const sweep = () => janitor.sweep({ thorough: true });
    const seen = (job_id: string) =>
      one(db.sql<{ at: Date | null; left: number | null; s: number | null }>`
        select app.deadline_of(j) as at, deadline_left_s as left, deadline_s as s from app.jobs j where job_id = ${job_id}`);
    /** As if everything so far had happened so many seconds earlier. */
    const later = (s: number) => db.sql`
      update app.jobs set created_at = created_at - make_interval(secs => ${s}::integer),
        started_at = started_at - make_interval(secs => ${s}::integer), deadline_at = deadline_at - make_interval(secs => ${s}::integer)`;
    return { db, sweep, seen, later, worker: await register(db, [], 3600) };
  }

  test("a queue that nobody serves for a night fails nothing; what is worked on for too long fails", async () => {
    const { db, sweep, seen, later, worker } = await floor();
    const { job_id } = await submit(db, only, {}, { options: { deadline_s: 60 } });
    await later(43_200);
    expect((await sweep()).expired_jobs).toBe(0);
    expect(await seen(job_id)).toMatchObject({ at: null, left: 60 });
    expect(await status(db, job_id)).toMatchObject({
      status: "queued",
      deadline_at: null,
      deadline_s: 60,
      deadline_from: "start",
      deadline_left_s: 60,
    });
    expect(await claim(db, worker, ["t.only"])).toHaveLength(1);
    const { at, started } = await one(db.sql<{ at: Date; started: Date }>`
      select app.deadline_of(j) as at, started_at as started from app.jobs j`);
    expect(at.getTime() - started.getTime()).toBe(60_000);
    await later(59);
    expect((await sweep()).expired_jobs).toBe(0);
    await later(2);
    expect((await sweep()).expired_jobs).toBe(1);
    expect(await status(db, job_id)).toMatchObject({ status: "failed", error: { code: "deadline" } });
  });

  test("from the submit, where that is asked for; and neither is refused for another word", async () => {
    const { db, sweep, later } = await floor();
    const options = { deadline_s: 60, deadline_from: "submit" };
    const { job_id } = await submit(db, only, {}, { options });
    await later(61);
    expect((await sweep()).expired_jobs).toBe(1);
    expect(await status(db, job_id)).toMatchObject({ status: "failed", deadline_from: "submit" });
    await expect(submit(db, only, { n: 2 }, { options: { deadline_from: "noon" } })).rejects.toMatchObject({
      code: "FF002",
      detail: expect.stringContaining("deadline_from"),
    });
  });

  test("a blueprint's null is none, what it does not say is two hours, and a submit's own counts before both", async () => {
    const { db, seen } = await floor();
    const blueprint = (deadline: object) => JSON.stringify({ type: "t", stages: only, ...deadline });
    const made = async (deadline: object, n: number, options: object = {}) => {
      const { reply } = await one(db.sql<{ reply: { job_id: string } }>`
        select app.submit(${blueprint(deadline)}::text::jsonb, ${JSON.stringify({ n })}::text::jsonb, 'reuse',
          ${JSON.stringify(options)}::text::jsonb, 'default') as reply`);
      return (await seen(reply.job_id)).s;
    };
    expect(await made({ deadline_s: null }, 1)).toBeNull();
    expect(await made({}, 2)).toBe(7200);
    expect(await made({ deadline_s: 60 }, 3)).toBe(60);
    expect(await made({ deadline_s: null }, 4, { deadline_s: 30 })).toBe(30);
    expect(await made({ deadline_s: 60 }, 5, { deadline_s: null })).toBeNull();
  });

  test("it stands while the job is paused or asks a person, also when that began before the work", async () => {
    const { db, sweep, seen, later, worker } = await floor();
    const { job_id: paused } = await submit(db, only, { n: 1 }, { options: { deadline_s: 60 } });
    await db.sql`select app.pause_job(${paused})`;
    await later(100);
    await db.sql`select app.continue_job(${paused})`;
    expect(await seen(paused)).toMatchObject({ at: null, left: 60 });
    const gated = [
      { name: "ask", task: "t.asked", after: [], gate: { message: "Go?" } },
      { name: "work", task: "t.only", after: [] },
    ];
    const { job_id: asks } = await submit(db, gated, { n: 2 }, { options: { deadline_s: 60 } });
    expect(await claim(db, worker, ["t.only"])).toHaveLength(2);
    await later(100);
    expect((await sweep()).expired_jobs).toBe(1);
    expect((await status(db, paused)).status).toBe("failed");
    expect(await seen(asks)).toMatchObject({ at: null, left: 60 });
    await db.sql`select app.decide_gate(${asks}, 'ask', true)`;
    expect(await seen(asks)).toMatchObject({ at: expect.any(Date), left: null });
    // Stopped after a part of it has gone by.
    const { job_id: half } = await submit(db, only, { n: 3 }, { options: { deadline_s: 60 } });
    await claim(db, worker, ["t.only"]);
    await db.sql`update app.jobs set started_at = started_at - interval '40 s' where job_id = ${half}`;
    await db.sql`select app.pause_job(${half})`;
    const { at, left } = await seen(half);
    expect(at).toBeNull();
    expect(left).toBeGreaterThan(15);
    expect(left).toBeLessThanOrEqual(20);
  });

  test("a job whose first claim found its row locked is seen to have started by the next sweep", async () => {
    const { db, sweep, seen, worker } = await floor();
    const { job_id } = await submit(db, only, {}, { options: { deadline_s: 60 } });
    await claim(db, worker, ["t.only"]);
    await db.sql`update app.jobs set status = 'queued', started_at = null`;
    await sweep();
    expect((await status(db, job_id)).status).toBe("processing");
    expect(await seen(job_id)).toMatchObject({ at: expect.any(Date), left: null });
  });
});
