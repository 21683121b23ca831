// The janitor's duties, one by one, and what it does about states that cannot happen.
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { type Alert, Janitor } from "../../src/engine/upkeep/janitor.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, expectSound, finish, register, status, submit } from "./floor.js";

const types = ["t.make", "t.end"];
const stages = [
  { name: "make", task: "t.make", plan: { count: 4 } },
  { name: "end", task: "t.end", parallelism: "fan_in" },
];

bothDatabases("the janitor", (open) => {
  async function floor() {
    const db = (await open()) as Database;
    const worker = await register(db, [], 3600);
    const alerts: Alert[] = [];
    const janitor = new Janitor({ db, log: pino({ enabled: false }), on_alert: (alert) => alerts.push(alert) });
    // Long duties are left out when another sweep has just begun.
    const sweep = async () => {
      await db.sql`update app.janitor set last_run_at = null`;
      return janitor.sweep();
    };
    const actions = () =>
      db.sql<{ action: string; target: string; reason: string; run_id: string }>`
        select action, target, reason, run_id from app.janitor_actions order by event_id`;
    return { db, worker, alerts, sweep, actions, janitor };
  }

  test("takes back what a silent worker holds, and says so with its run", async () => {
    const { db, worker, sweep, actions } = await floor();
    const { job_id } = await submit(db, stages);
    await claim(db, worker, types, 3);
    await db.sql`update app.workers set heartbeat_at = now() - interval '2 hours'`;
    const { run_id, lost_workers, tasks } = await sweep();
    expect([lost_workers, tasks]).toEqual([1, 3]);
    expect(await actions()).toEqual([
      { action: "took_back", target: `worker ${worker}`, reason: "its lease was over", run_id },
    ]);
    await expectSound(db);
    await drain(db, await register(db, [], 3600), types);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("fails jobs past their deadline, and a job that cannot be ended does not keep it from the next", async () => {
    const { db, sweep, alerts } = await floor();
    const { job_id: bad } = await submit(db, stages, { n: 1 });
    const { job_id: good } = await submit(db, stages, { n: 2 });
    await db.sql`update app.jobs set deadline_at = now() - interval '2 s' where job_id = ${bad}`;
    await db.sql`update app.jobs set deadline_at = now() - interval '1 s' where job_id = ${good}`;
    await db.script(`
      create function public.refuse() returns trigger language plpgsql as
        $$ begin if new.job_id = '${bad}' then raise exception 'a bad row'; end if; return new; end $$;
      create trigger refuse before update on app.jobs for each row execute function public.refuse();`);
    const swept = await sweep();
    await db.script("drop trigger refuse on app.jobs; drop function public.refuse()");
    expect(swept).toMatchObject({ expired_jobs: 1, failed: [] });
    expect((await status(db, good)).status).toBe("failed");
    expect((await status(db, bad)).status).toBe("queued");
    expect(alerts.map(({ alert, job_id }) => [alert, job_id])).toEqual([
      ["expire_failed", bad],
      ["deadline", good],
    ]);
    expect(await sweep()).toMatchObject({ expired_jobs: 1 });
    expect((await status(db, bad)).status).toBe("failed");
  });

  test("fails an attempt that its live worker should have ended long ago", async () => {
    const { db, worker, sweep, actions } = await floor();
    await submit(db, [{ name: "make", task: "t.make", timeout_s: 10 }]);
    const [held] = await claim(db, worker, types);
    const running = { claim_id: held!.claim_id, stage_id: held!.stage_id, ordinal: 0, elapsed_s: 69, progress: null };
    const beat = (elapsed_s: number) =>
      worker_commands.heartbeat(db, {
        worker_id: worker,
        running: [{ ...running, elapsed_s }],
        claims: [held!.claim_id],
      });
    await beat(69);
    expect(await sweep()).toMatchObject({ expired_tasks: 0 });
    await beat(71);
    expect(await sweep()).toMatchObject({ expired_tasks: 1 });
    expect(await sweep()).toMatchObject({ expired_tasks: 0 });
    expect((await actions()).map(({ action }) => action)).toEqual(["timed_out"]);
    expect(await beat(72)).toMatchObject({ lost: [held!.claim_id] });
    expect(await db.sql`select outcome, code from app.attempts`).toEqual([{ outcome: "failed", code: "timeout" }]);
    await expectSound(db);
  });

  test("repairs a stage whose tasks are nowhere", async () => {
    const { db, worker, sweep, alerts } = await floor();
    const { job_id } = await submit(db, stages);
    await finish(db, worker, await claim(db, worker, types, 2));
    await db.sql`delete from app.ready`;
    expect(await sweep()).toMatchObject({ mended: 1 });
    expect(alerts).toMatchObject([
      { alert: "impossible_state", job_id, reason: expect.stringContaining("nowhere; repaired") },
    ]);
    await expectSound(db);
    expect((await drain(db, worker, types)).length).toBe(3);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("closes a stage that is complete but open, and counts a wrong ledger anew", async () => {
    const { db, worker, sweep, alerts } = await floor();
    const { job_id } = await submit(db, stages);
    const held = await claim(db, worker, types);
    await finish(db, worker, held.slice(0, 3));
    const [{ stage_id } = { stage_id: 0 }] = await db.sql<{ stage_id: number }>`select stage_id from app.claims`;
    await db.sql`delete from app.claims`;
    await db.sql`insert into app.results (stage_id, ordinal, tenant_id, status) values (${stage_id}::bigint, 3, 'default', 'completed')`;
    expect(await sweep()).toMatchObject({ mended: 1 });
    expect(alerts.length).toBe(1);
    await expectSound(db);
    await drain(db, worker, types);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("ends a job without an open stage, opens a stage that nothing keeps closed, and asks again for a lost plan", async () => {
    const { db, worker, sweep } = await floor();
    const ended = await submit(db, [{ name: "make", task: "t.make" }], { n: 1 });
    await drain(db, worker, types);
    await db.sql`update app.jobs set status = 'processing', finished_at = null`;
    const waits = await submit(db, stages, { n: 2 });
    await db.sql`update app.stages set waiting_for = 2 where job_id = ${waits.job_id} and status = 'waiting'`;
    const planned = await submit(
      db,
      [{ name: "make", task: "t.make", plan: { count: 5000 } }],
      { n: 3 },
      { type: "wide" },
    );
    await db.sql`delete from app.ready where lo = -1`;
    expect(await sweep()).toMatchObject({ mended: 3 });
    expect(await sweep()).toMatchObject({ mended: 0 });
    await drain(db, worker, types);
    for (const { job_id } of [ended, waits, planned]) expect((await status(db, job_id)).status).toBe("completed");
    await expectSound(db);
  });

  test("removes what is left of closed stages, and takes back claims whose worker is gone", async () => {
    const { db, worker, sweep, actions } = await floor();
    const { job_id } = await submit(db, stages, { n: 1 });
    await db.sql`select app.cancel_job(${job_id})`;
    const [{ stage_id } = { stage_id: 0 }] = await db.sql<{
      stage_id: number;
    }>`select min(stage_id) as stage_id from app.stages`;
    await submit(db, stages, { n: 2 });
    await claim(db, worker, types, 2);
    await db.sql`insert into app.ready (stage_id, lo, hi, tenant_id, task_type) values (${stage_id}::bigint, 0, 4, 'default', 't.make')`;
    await db.sql`update app.claims set worker_id = gen_random_uuid()`;
    await sweep();
    expect((await actions()).map(({ action }) => action).sort()).toEqual(["removed", "took_back"]);
    await expectSound(db);
    expect((await drain(db, worker, types)).length).toBe(5);
  });

  test("checks a stage when it has closed, tells a difference once, and puts the counters right", async () => {
    const { db, worker, sweep, alerts } = await floor();
    await submit(db, stages);
    await drain(db, worker, types);
    await db.sql`update app.stage_progress set completed = completed - 1, failed = 1 where total = 4`;
    await db.sql`update app.events set at = at - interval '10 s'`;
    expect((await sweep()).checked).toBe(1);
    expect(alerts).toMatchObject([{ alert: "ledger", reason: expect.stringContaining("the ledger says (3,1,0)") }]);
    await expectSound(db);
    expect((await sweep()).checked).toBe(0);
  });

  test("its last success is visible, and its own silence is an alert", async () => {
    const { db, janitor, sweep, alerts } = await floor();
    const health = async () =>
      (await db.sql<{ reply: { late: boolean; age_s: number } }>`select app.janitor_health() as reply`)[0]!.reply;
    expect(await health()).toMatchObject({ late: true, age_s: null });
    await sweep();
    expect(await health()).toMatchObject({ late: false });
    await db.sql`update app.janitor set last_success_at = now() - interval '11 minutes', last_error = 'out of disk'`;
    expect((await health()).late).toBe(true);
    await janitor.sweep();
    expect(alerts).toMatchObject([
      { alert: "janitor_silent", reason: expect.stringMatching(/00:11:\d\d.*out of disk/) },
    ]);
    expect(await health()).toMatchObject({ late: false });
  });

  test("the long duties are left to a run that has just begun, but not because others have left them", async () => {
    const { db } = await floor();
    // Within one transaction the time stands still.
    const begun = (ago: string) =>
      db.transaction(async (tx) => {
        await tx.sql`update app.janitor set last_run_at = now() - ${ago}::text::interval`;
        await tx.sql`select app.janitor_begin(gen_random_uuid())`;
        const [row] = await tx.sql<{ lately: boolean; counts: boolean }>`
          select (app.janitor_begin(gen_random_uuid()) ->> 'lately')::boolean as lately,
            (select last_run_at from app.janitor) = now() as counts`;
        return row!;
      });
    // Whoever left them is not the last run: else, with many workers, there would always be one that has just begun.
    expect(await begun("1.9 s")).toEqual({ lately: true, counts: false });
    expect(await begun("2.1 s")).toEqual({ lately: true, counts: true });
    // The clock was set back.
    expect(await begun("-1 hour")).toEqual({ lately: true, counts: true });
  });

  test("a duty that fails does not keep the others from being done, and three failing sweeps are an alert", async () => {
    const { db, sweep, alerts } = await floor();
    await submit(db, stages);
    await db.script("alter function app.reap_workers(uuid) rename to reap_workers_hidden");
    await db.sql`update app.jobs set deadline_at = now() - interval '1 s'`;
    expect(await sweep()).toMatchObject({ failed: ["reap_workers"], expired_jobs: 1 });
    await sweep();
    await sweep();
    await db.script("alter function app.reap_workers_hidden(uuid) rename to reap_workers");
    expect(alerts.map(({ alert }) => alert)).toEqual(["deadline", "janitor_failing"]);
    expect(await sweep()).toMatchObject({ failed: [] });
  });
});
