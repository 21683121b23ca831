// Jobs that depend on other jobs: they wait, are released or cancelled with the end of those, and can be repaired.
import { expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, expectSound, finish, one, register, status, submit } from "./floor.js";

const stages = [{ name: "only", task: "t.only" }];
let number = 0;

async function job(db: Queryable, options: object = {}, how = stages, mode = "reuse") {
  return submit(db, how, { n: number++ }, { options, mode });
}

const seen = async (db: Queryable, job_id: string) => {
  const { reply } = await one(
    db.sql<{
      reply: {
        status: string;
        waits_for: number;
        deadline_at: string | null;
        error: { code: string; message: string; depends_on: string } | null;
        depends_on: { job_id: string; status: string; needs: string; satisfied_at: string | null }[];
        stages: { status: string }[];
      };
    }>`select app.get_job(${job_id}) as reply`,
  );
  return reply;
};
const kinds = async (db: Queryable, job_id: string) =>
  (await db.sql<{ kind: string }>`select kind from app.events where job_id = ${job_id} order by event_id`).map(
    ({ kind }) => kind,
  );

bothDatabases(
  "dependencies",
  (open, kind) => {
    test("a job waits for all it depends on, starts with the last of them, and its deadline with it", async () => {
      const db = await open();
      const worker = await register(db);
      const [a, b] = [await job(db), await job(db)];
      const c = await job(db, { depends_on: [a.job_id, b.job_id, a.job_id], deadline_s: 60, deadline_from: "submit" });
      expect(c).toMatchObject({ created: true, status: "queued" });
      expect(await seen(db, c.job_id)).toMatchObject({
        status: "queued",
        waits_for: 2,
        deadline_at: null,
        stages: [{ status: "waiting" }],
        depends_on: [
          { status: "queued", needs: "success", satisfied_at: null },
          { status: "queued", needs: "success", satisfied_at: null },
        ],
      });
      const tasks = await claim(db, worker, ["t.only"]);
      expect(tasks.length).toBe(2);
      await finish(db, worker, tasks.slice(0, 1));
      expect(await seen(db, c.job_id)).toMatchObject({ waits_for: 1, deadline_at: null });
      expect(await claim(db, worker, ["t.only"])).toEqual([]);
      await finish(db, worker, tasks.slice(1));
      expect(await seen(db, c.job_id)).toMatchObject({ waits_for: 0, stages: [{ status: "processing" }] });
      expect((await seen(db, c.job_id)).deadline_at).not.toBeNull();
      expect((await drain(db, worker, ["t.only"])).length).toBe(1);
      expect(await seen(db, c.job_id)).toMatchObject({ status: "completed" });
      expect(await kinds(db, c.job_id)).toEqual(["job.submitted", "job.released", "stage.completed", "job.completed"]);
      await expectSound(db);
    });

    test("a job whose dependencies have all ended well starts at once", async () => {
      const db = await open();
      const worker = await register(db);
      const a = await job(db);
      await drain(db, worker, ["t.only"]);
      const b = await job(db, { depends_on: [a.job_id] });
      expect(await seen(db, b.job_id)).toMatchObject({ waits_for: 0, stages: [{ status: "processing" }] });
      expect((await drain(db, worker, ["t.only"])).length).toBe(1);
    });

    test("a missing, foreign or malformed dependency is refused, all problems at once, and nothing is written", async () => {
      const db = await open();
      await db.sql`select app.create_tenant('acme')`;
      const foreign = await submit(db, stages, {}, { tenant: "acme" });
      const count = () => one(db.sql<{ n: number }>`select count(*)::integer as n from app.jobs`);
      const before = await count();
      const refused = (options: object) => job(db, options).catch((error: unknown) => error);
      expect(await refused({ depends_on: [foreign.job_id, "ab".repeat(32)] })).toMatchObject({
        code: "FF002",
        detail: expect.stringMatching(/depends_on\[0\].*depends_on\[1\]/s),
      });
      expect(await refused({ depends_on: "x", on_dependency_failure: "shrug", require: "luck" })).toMatchObject({
        code: "FF002",
        detail: expect.stringMatching(/depends_on.*on_dependency_failure.*require/s),
      });
      expect(await refused({ depends_on: [1] })).toMatchObject({ code: "FF002" });
      // Far behind others that exist.
      const there = await job(db);
      const far = [...Array(30).fill(there.job_id), "cd".repeat(32)];
      expect(await refused({ depends_on: far })).toMatchObject({ detail: expect.stringContaining("depends_on[30]") });
      expect(await count()).toEqual({ n: before.n + 1 });
    });

    test("when a dependency fails the job is cancelled and says why, and so do those that depend on it", async () => {
      const db = await open();
      const worker = await register(db);
      const a = await job(db);
      const b = await job(db, { depends_on: [a.job_id] });
      const c = await job(db, { depends_on: [b.job_id] });
      const run = await job(db, { depends_on: [a.job_id], on_dependency_failure: "run" });
      await drain(db, worker, ["t.only"], () => ({ category: "permanent" }));
      expect(await seen(db, b.job_id)).toMatchObject({
        status: "cancelled",
        error: { code: "dependency", depends_on: a.job_id, message: expect.stringContaining("which ended failed") },
      });
      expect(await seen(db, c.job_id)).toMatchObject({
        status: "cancelled",
        error: { depends_on: b.job_id, message: expect.stringContaining("which ended cancelled") },
        stages: [{ status: "cancelled" }],
      });
      expect((await seen(db, run.job_id)).status).toBe("failed");
      // It makes no difference whether the dependency failed before or after the submit.
      const late = await job(db, { depends_on: [a.job_id] });
      expect(await seen(db, late.job_id)).toMatchObject({ status: "cancelled", error: { depends_on: a.job_id } });
      const why = await one(db.sql<{ reply: object }>`select app.why(${late.job_id}) as reply`);
      expect(why.reply).toMatchObject({ code: "CANCELLED", action: { verb: "resume", job_id: a.job_id } });
      await expectSound(db);
    });

    test("a partial success is enough, unless it has to be completed", async () => {
      const db = await open();
      const worker = await register(db);
      const a = await job(db, {}, [
        { name: "wide", task: "t.wide", plan: { count: 2 }, failure_budget: { count: 1 } } as never,
      ]);
      const fine = await job(db, { depends_on: [a.job_id] });
      const strict = await job(db, { depends_on: [a.job_id], require: "completed" });
      await drain(db, worker, ["t.wide"], ({ ordinal }) => (ordinal === 0 ? { category: "permanent" } : {}));
      expect((await status(db, a.job_id)).status).toBe("partial_success");
      expect(await seen(db, fine.job_id)).toMatchObject({ waits_for: 0, status: "queued" });
      expect(await seen(db, strict.job_id)).toMatchObject({
        status: "cancelled",
        error: { message: expect.stringContaining("had to complete") },
      });
    });

    test("a dependent cancelled for a failed job waits for that job once both are resumed, and goes on with it", async () => {
      const db = await open();
      const worker = await register(db);
      const a = await job(db);
      const b = await job(db, { depends_on: [a.job_id], deadline_s: 60, deadline_from: "submit" });
      await drain(db, worker, ["t.only"], () => ({ category: "permanent" }));
      await expect(db.sql`select app.resume_job(${b.job_id})`).rejects.toMatchObject({
        code: "FF006",
        hint: "resume that one first",
        detail: expect.stringContaining(`"job_id": "${a.job_id}"`),
      });
      await db.sql`select app.resume_job(${a.job_id})`;
      await db.sql`select app.resume_job(${b.job_id})`;
      expect(await seen(db, b.job_id)).toMatchObject({ status: "queued", waits_for: 1, deadline_at: null });
      expect((await drain(db, worker, ["t.only"])).length).toBe(2);
      expect(await seen(db, b.job_id)).toMatchObject({ status: "completed", waits_for: 0 });
      await expectSound(db);
    });

    test("one cancelled for a job that is repaired before it needs nothing more than to be resumed", async () => {
      const db = await open();
      const worker = await register(db);
      const a = await job(db);
      const b = await job(db, { depends_on: [a.job_id] });
      await drain(db, worker, ["t.only"], () => ({ category: "permanent" }));
      await db.sql`select app.resume_job(${a.job_id})`;
      await drain(db, worker, ["t.only"]);
      expect(await seen(db, b.job_id)).toMatchObject({ status: "cancelled", waits_for: 0 });
      await db.sql`select app.resume_job(${b.job_id})`;
      expect((await drain(db, worker, ["t.only"])).length).toBe(1);
      expect((await seen(db, b.job_id)).status).toBe("completed");
    });

    test("while it waits it can be paused, continued and cancelled, and the janitor leaves it alone", async () => {
      const db = await open();
      const worker = await register(db);
      const a = await job(db);
      const b = await job(db, { depends_on: [a.job_id], deadline_s: 60, deadline_from: "submit" });
      const c = await job(db, { depends_on: [b.job_id] });
      await db.sql`select app.pause_job(${b.job_id})`;
      await db.sql`select app.continue_job(${b.job_id})`;
      expect(await seen(db, b.job_id)).toMatchObject({ deadline_at: null, waits_for: 1 });
      expect((await one(db.sql<{ reply: { jobs: unknown[] } }>`select app.stuck_jobs() as reply`)).reply.jobs).toEqual(
        [],
      );
      const why = await one(db.sql<{ reply: object }>`select app.why(${b.job_id}) as reply`);
      expect(why.reply).toMatchObject({
        code: "WAITING_DEPENDENCY",
        status: "queued",
        evidence: {
          waits_for: 1,
          jobs: [{ job_id: a.job_id, status: "queued", needs: "success" }],
          there: { code: "NO_WORKER_FOR_TYPE" },
        },
      });
      await db.sql`select app.pause_job(${b.job_id})`;
      await drain(db, worker, ["t.only"]);
      expect(await seen(db, b.job_id)).toMatchObject({ waits_for: 0, deadline_at: null, status: "queued" });
      await db.sql`select app.continue_job(${b.job_id})`;
      expect((await seen(db, b.job_id)).deadline_at).not.toBeNull();
      await db.sql`select app.cancel_job(${b.job_id})`;
      expect(await seen(db, c.job_id)).toMatchObject({ status: "cancelled", error: { depends_on: b.job_id } });
      await expectSound(db);
    });

    test.runIf(kind === "server")(
      "a job claimed while another is being made to depend on it is marked as started",
      async () => {
        const db = await open();
        const worker = await register(db);
        await drain(db, worker, ["t.only"]);
        const a = await job(db);
        const tasks = await db.transaction(async (tx) => {
          await job(tx, { depends_on: [a.job_id] });
          return claim(db, worker, ["t.only"]);
        });
        expect(tasks.length).toBe(1);
        expect(await seen(db, a.job_id)).toMatchObject({ status: "processing" });
        await finish(db, worker, tasks);
        await drain(db, worker, ["t.only"]);
        await expectSound(db);
      },
    );

    /** Each depends on the one before; made by one script, because a thousand calls take longer than what they are for. */
    async function chain(db: Queryable, type: string, length: number, blueprint: object): Promise<void> {
      await db.script(`do $$
        declare v_last text := app.submit('${JSON.stringify({ type, stages })}', '{}') ->> 'job_id';
        begin
          for n in 1 .. ${length - 1} loop
            v_last := app.submit('${JSON.stringify({ ...blueprint, type })}', jsonb_build_object('n', n), 'reuse',
              jsonb_build_object('depends_on', jsonb_build_array(v_last))) ->> 'job_id';
          end loop;
        end $$`);
    }
    const ends = (db: Queryable, type: string) =>
      db.sql`select status::text, count(*)::integer as n from app.jobs where job_type = ${type} group by 1 order by 1`;

    test.runIf(kind === "server")(
      "a chain of 1,000 jobs, each waiting for the one before, is cancelled with the first",
      async () => {
        const db = await open();
        await chain(db, "long_chain", 1000, { stages });
        await db.sql`select app.cancel_job(job_id) from app.jobs where job_type = 'long_chain' and parameters = '{}'`;
        expect(await ends(db, "long_chain")).toEqual([{ status: "cancelled", n: 1000 }]);
      },
    );

    test.runIf(kind === "server")(
      "a chain of 150 jobs of which nothing is to run ends in one go, without a call for each",
      async () => {
        const db = await open();
        const worker = await register(db);
        await drain(db, worker, ["t.only"]);
        await chain(db, "empty_chain", 150, { stages: [{ name: "none", task: "t.none", plan: { count: 0 } }] });
        expect((await drain(db, worker, ["t.only"])).length).toBe(1);
        expect(await ends(db, "empty_chain")).toEqual([{ status: "completed", n: 150 }]);
      },
    );

    test("with mode resume, bulk submits of jobs that depend on others are refused, single ones are not", async () => {
      const db = await open();
      const a = await job(db);
      const jobs = [0, 1].map((n) => ({ parameters: `{"bulk":${n}}`, depends_on: [a.job_id] }));
      const bulk = (some: object[]) =>
        db.sql`select app.submit_jobs(${JSON.stringify({ type: "test_job", stages })}::text::jsonb,
          ${JSON.stringify({ mode: "resume", jobs: some })}::text::json)`;
      await expect(bulk(jobs)).rejects.toMatchObject({ code: "FF002" });
      await bulk(jobs.slice(0, 1));
    });
  },
  { shared: true },
);
