// F34, F35: a cancel meets a finish and a rescue, and a stage that is just being planned.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { NotAllowedNow } from "../../src/core/errors/errors.js";
import type { DatabaseError } from "../../src/engine/database/database.js";
import type { CancelReply, JobRecord } from "../../src/engine/verbs/records.js";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { named } from "./proxy.js";
import { pages_job, race_job, tasks_of_pages } from "./race.js";
import { completedWith, endedAs, type Scene } from "./scene.js";
import type { Fleet } from "./worker_process.js";

type Rival = "finish" | "cancel" | "rescue";

const orders: Rival[][] = [
  ["finish", "cancel", "rescue"],
  ["cancel", "finish", "rescue"],
  ["rescue", "cancel", "finish"],
  ["rescue", "finish", "cancel"],
];
const tasks = 4;
const rounds_at_once = 6;

fault("F34 a cancel, a finish and a rescue of the same tasks", async (scene) => {
  const fleet = await scene.fleet({ size: 2, options: { slots: tasks } });
  const other = await scene.connect();
  const won: Record<string, number> = { completed: 0, cancelled: 0 };
  for (let round = 0; round < orders.length + rounds_at_once; round++) {
    const { until, open } = scene.gate();
    const ends = ({ status }: JobRecord) => expect(["completed", "cancelled"]).toContain(status);
    const { job_id } = await scene.submitJob(race_job, { name: `round ${round}`, n: tasks, until }, ends);
    await eventually(() => startsOf(scene, job_id).length === tasks);
    const workers = [...new Set(startsOf(scene, job_id).map(({ worker_id }) => worker_id))];
    const cancels: Promise<CancelReply | Error>[] = [];
    const act: Record<Rival, () => Promise<unknown>> = {
      finish: async () => open(),
      // By two at once, who both are told what became of it.
      cancel: () => {
        for (const engine of [scene.engine, other]) {
          cancels.push(engine.cancelJob(job_id, "raced").catch((error: Error) => error));
        }
        return Promise.all(cancels);
      },
      rescue: () => rescue(scene, workers),
    };
    const order = orders[round];
    if (order === undefined) {
      await Promise.all(
        Object.entries(act).map(async ([name, rival]) => {
          // A finish takes longest to get there.
          await sleep(scene.random() * (name === "finish" ? 10 : 60));
          await rival();
        }),
      );
    } else {
      for (const rival of order) {
        await act[rival]();
        // The next one finds what it has made of the job: without a cancel before it, an end.
        if (rival === "finish") await eventually(() => endsOf(scene, job_id) >= tasks);
        if (rival === "finish" && cancels.length === 0) await eventually(() => hasEnded(scene, job_id));
      }
    }
    await eventually(() => hasEnded(scene, job_id));
    const { status } = await scene.engine.status(job_id);
    won[status]!++;
    if (order !== undefined) {
      const finishes = order.indexOf("finish") < order.indexOf("cancel");
      expect([order, status]).toEqual([order, finishes ? "completed" : "cancelled"]);
    }
    await expectToldWhy(await Promise.all(cancels), status);
    // Every handler has come back, and whatever it brought has been taken or turned away.
    await eventually(() => startsOf(scene, job_id).length === endsOf(scene, job_id));
    await expectNobodyIgnored(scene, fleet, job_id, status);
    // What has ended stays ended, for whoever asks again.
    const before = await records(scene, job_id);
    await rescue(scene, []);
    expect(await scene.engine.cancelJob(job_id).catch((error: Error) => error)).toEqual(
      status === "completed"
        ? expect.any(NotAllowedNow)
        : expect.objectContaining({ status: "cancelled", changed: false }),
    );
    expect(await records(scene, job_id)).toEqual(before);
    expect((await scene.engine.status(job_id)).status).toBe(status);
  }
  scene.notes.push(`${won.completed} completed, ${won.cancelled} cancelled`);
});

const startsOf = (scene: Scene, job_id: string) =>
  scene.effects().filter((effect) => effect.job_id === job_id && effect.what === "start");
const endsOf = (scene: Scene, job_id: string) =>
  scene.effects().filter((effect) => effect.job_id === job_id && effect.what === "end").length;

async function hasEnded(scene: Scene, job_id: string): Promise<boolean> {
  return (await scene.engine.status(job_id)).finished_at !== null;
}

/** As if their leases had been over: in one transaction, because the next heartbeat would say otherwise. */
async function rescue(scene: Scene, workers: string[]): Promise<void> {
  await scene.db.transaction(async (tx) => {
    const ids = workers.join();
    await tx.sql`
      update app.workers set heartbeat_at = now() - interval '1 hour'
       where status = 'live' and worker_id = any (string_to_array(${ids}, ',')::uuid[])`;
    await tx.sql`select app.reap_workers()`;
  });
}

/** One of two cancels did it and the other finds it done; or both are told that it was too late. */
function expectToldWhy(replies: (CancelReply | Error)[], status: string): void {
  if (status === "cancelled") {
    const changed = replies.map((reply) => !(reply instanceof Error) && reply.changed);
    expect(changed.sort()).toEqual([false, true]);
    expect(replies.filter((reply) => reply instanceof Error)).toEqual([]);
    return;
  }
  for (const reply of replies) {
    expect(reply).toBeInstanceOf(NotAllowedNow);
    expect(reply).toMatchObject({ message: expect.stringContaining("is completed, which is final") });
  }
}

/**
 * Whoever brought a result that did not count knows why: it is on record as refused, or the worker says that it kept it to
 * itself, or the whole worker had been given up, and says that.
 */
async function expectNobodyIgnored(scene: Scene, fleet: Fleet, job_id: string, status: string): Promise<void> {
  await eventually(async () => {
    const told = await scene.db.sql<{ key: string }>`
      select r.ordinal || ' ' || r.worker_id as key from app.results r join app.stages s using (stage_id) where s.job_id = ${job_id}
      union all
      select a.ordinal || ' ' || a.worker_id from app.attempts a join app.stages s using (stage_id)
       where s.job_id = ${job_id} and a.outcome = 'refused'`;
    const given_up = await scene.db.sql<{
      id: string;
    }>`select worker_id::text as id from app.workers where status = 'lost'`;
    const said = fleet.members.flatMap((member) => member.logged("its result is dropped"));
    const keys = new Set(told.map(({ key }) => key));
    const lost = new Set(given_up.map(({ id }) => id));
    const abandoned = fleet.members.flatMap((member) => member.logged("tasks abandoned")).length;
    return startsOf(scene, job_id).every(
      ({ ordinal, worker_id, stage_id }) =>
        keys.has(`${ordinal} ${worker_id}`) ||
        (lost.has(worker_id) && abandoned === lost.size) ||
        said.some(({ task }) => task === `${stage_id}-${ordinal}`),
    );
  });
  const results = await scene.db.sql`
    select from app.results r join app.stages s using (stage_id) where s.job_id = ${job_id} and r.status = 'completed'`;
  if (status === "completed") expect(results).toHaveLength(tasks);
}

function records(scene: Scene, job_id: string) {
  return scene.db.sql`
    select 'result' as what, r.ordinal, r.status::text, r.result::text as detail, r.worker_id::text as who
      from app.results r join app.stages s using (stage_id) where s.job_id = ${job_id}
    union all
    select 'event', e.event_id, e.kind, e.reason, e.actor from app.events e where e.job_id = ${job_id} and e.kind not like 'janitor%'
    order by 1, 2`;
}

async function plannedTasks(scene: Pick<Scene["db"], "sql">, job_id: string): Promise<number> {
  const [row] = await scene.sql<{ n: number }>`
    select count(*) as n from app.tasks t join app.stages s using (stage_id) where s.job_id = ${job_id} and s.name = 'page'`;
  return row!.n;
}

/** Cancels, and counts in the same transaction what had been planned when it did. */
function cancelAndCount(scene: Scene, job_id: string): Promise<number> {
  return scene.db.transaction(async (tx) => {
    await tx.sql`select app.cancel_job(${job_id}, 'in the middle of the plan', 'default')`;
    return plannedTasks(tx, job_id);
  });
}

/** Opened again, the plan is made again from its start, whatever was there. */
async function resumes(scene: Scene, job_id: string): Promise<void> {
  scene.repairing(job_id, completedWith(tasks_of_pages));
  await scene.engine.operate.resume(job_id);
  await scene.settle();
  expect(await plannedTasks(scene.db, job_id)).toBe(tasks_of_pages);
}

for (const deaf of [false, true]) {
  const manner = deaf ? "and its planner does not hear of it" : "and its planner is told";
  fault(`F35 a cancel in the middle of a fan-out, ${manner}`, async (scene) => {
    const { until, open } = scene.gate();
    const proxy = await scene.proxy();
    // The next heartbeat is minutes away: it is the hint that would tell.
    const options = { lease_s: 600 };
    const planner = await scene.worker({ via: proxy, options, pause: { at: "mid-plan", until } });
    const { job_id } = await scene.submitJob(pages_job, { name: "half" }, endedAs("cancelled"));
    await planner.said("paused");
    if (deaf) expect(proxy.stall(named("fanfold heartbeat listen"))).toBe(1);
    const there = await cancelAndCount(scene, job_id);
    expect(there).toBeGreaterThan(0);
    expect(there).toBeLessThan(tasks_of_pages);
    if (!deaf) await eventually(() => planner.logged("the task was").length > 0);
    // It goes on with its next page, which nobody wants.
    open();
    await eventually(() => [...planner.logged("task failed"), ...planner.logged("result is dropped")].length > 0);
    expect(planner.logged("task failed").length).toBe(deaf ? 1 : 0);
    expect(await plannedTasks(scene.db, job_id)).toBe(there);
    await scene.settle();
    proxy.heal();
    await resumes(scene, job_id);
  });
}

fault("F35 a cancel at any moment of a fan-out", async (scene) => {
  await scene.fleet({ size: 2 });
  const counts: number[] = [];
  for (let round = 0; round < 6; round++) {
    const ends = ({ status }: JobRecord) => expect(["completed", "cancelled"]).toContain(status);
    const { job_id } = await scene.submitJob(pages_job, { name: `round ${round}` }, ends);
    await eventually(async () => (await scene.engine.status(job_id)).stages[1]!.status !== "waiting");
    await sleep(scene.random() * 300);
    const there = await cancelAndCount(scene, job_id).catch((error: DatabaseError) => {
      expect(error.code).toBe("FF006");
      return tasks_of_pages;
    });
    counts.push(there);
    await scene.settle();
    await eventually(async () => (await idleWorkers(scene)) === 2);
    expect(await plannedTasks(scene.db, job_id)).toBe(there);
  }
  scene.notes.push(`${counts.join(", ")} tasks planned by then`);
});

/** Workers that run nothing, by their own word since the question was asked. */
async function idleWorkers(scene: Scene): Promise<number> {
  const [moment] = await scene.db.sql<{ at: string }>`select clock_timestamp()::text as at`;
  let idle: unknown[] = [];
  await eventually(async () => {
    const rows = await scene.db.sql<{ running: unknown[] }>`
      select running from app.workers where status = 'live' and heartbeat_at > ${moment!.at}::text::timestamptz`;
    idle = rows.filter(({ running }) => running.length === 0);
    return rows.length === 2;
  });
  return idle.length;
}
