// Races, proven by holding a transaction open on a second connection. Every pair of verbs meets on the same stage in both
// orders: the first has done its work and not committed, the second starts and may have to wait, the first commits.
import { describe, expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { claim, drain, expectSound, finish, type Held, one, register, status, submit } from "./floor.js";
import { twoSessions, type Verb } from "./interleave.js";
import { untilWaiting } from "./lock_waits.js";

/** A job of its own among those of the scenes before: emptying the tables would have every statement planned again. */
interface Scene {
  number: number;
  job_id: string;
  ann: string;
  bob: string;
  /** Ordinals 0 and 1, held by Ann; 2 to 5 are ready; a plan of a second job waits for a planner. */
  held: Held[];
}

const verbs: Record<string, Verb<Scene>> = {
  claim: (db, { bob }) => claim(db, bob, ["t.race", "t.after"], 2),
  finish_one: (db, { ann, held }) => finish(db, ann, held.slice(0, 1)),
  finish_all: (db, { ann, held }) => finish(db, ann, held),
  fail: (db, { ann, held }) => finish(db, ann, held, () => ({ category: "permanent" })),
  retry: (db, { ann, held }) => finish(db, ann, held, () => ({ category: "throttled", retry_after_s: 0 })),
  release: (db, { ann, held }) =>
    worker_commands.release(db, { worker_id: ann, items: [{ c: held[0]!.claim_id, o: [0, 1] }] }),
  stop_worker: (db, { ann }) => worker_commands.stop_worker(db, { worker_id: ann }),
  reap: async (db, { ann }) => {
    await db.sql`update app.workers set heartbeat_at = 'epoch' where worker_id = ${ann}::text::uuid`;
    return worker_commands.reap_workers(db);
  },
  cancel: (db, { job_id }) => db.sql`select app.cancel_job(${job_id})`,
  heartbeat: (db, { ann, held }) =>
    worker_commands.heartbeat(db, { worker_id: ann, running: [], claims: [held[0]!.claim_id] }),
  submit_again: (db, { number }) => submit(db, stages, { scene: number }, { mode: "force" }),
};

const stages = [
  { name: "race", task: "t.race", plan: { count: 6 }, failure_budget: { count: 6 } },
  { name: "after", task: "t.after", parallelism: "match_previous" },
];

/** How often two finishes meet: 10,000 times in the soak run. */
const rounds = process.env.FANFOLD_TEST_SOAK ? 10_000 : 1_000;

describe("races on a real server", () => {
  const floor = twoSessions();
  let scenes_set = 0;

  async function nextScene(): Promise<Scene> {
    const { db } = floor;
    const number = ++scenes_set;
    const [ann, bob] = [await register(db, [], 3600), await register(db, [], 3600)];
    const { job_id } = await submit(db, stages, { scene: number });
    return { number, job_id, ann, bob, held: await claim(db, ann, ["t.race"], 2) };
  }

  async function onlyScene(): Promise<Scene> {
    await floor.clear();
    return nextScene();
  }

  for (const [a, first] of Object.entries(verbs)) {
    test(`${a} against each other verb leaves every task in one place, whoever commits first`, async () => {
      for (const [b, second] of Object.entries(verbs)) {
        const scene = await nextScene();
        await floor.meet(scene, [a, first], [b, second]);
        await expectSound(floor.db, scene.held[0]!.stage_id);
        await expectEnds(scene, `${a} then ${b}`);
      }
    });
  }

  /** Whatever happened, honest workers bring the job to an end. */
  async function expectEnds({ job_id, held }: Scene, story: string): Promise<void> {
    const { db } = floor;
    await db.sql`update app.workers set heartbeat_at = 'epoch' where status = 'live'`;
    await worker_commands.reap_workers(db);
    await drain(db, await register(db, [], 3600), ["t.race", "t.after"]);
    expect([story, ["completed", "partial_success", "cancelled"].includes((await status(db, job_id)).status)]).toEqual([
      story,
      true,
    ]);
    await expectSound(db, held[0]!.stage_id);
  }

  test("two workers never hold the same ordinal, though one asks while the other's claim is uncommitted", async () => {
    const { ann, bob, job_id } = await onlyScene();
    const { db, first, second } = floor;
    let other: Promise<Held[]> = Promise.resolve([]);
    let mine: Held[] = [];
    await first.transaction(async (tx) => {
      mine = await claim(tx, ann, ["t.race"], 2);
      other = claim(second, bob, ["t.race"], 2);
      await untilWaiting(db);
    });
    expect(mine.map(({ ordinal }) => ordinal)).toEqual([2, 3]);
    expect((await other).map(({ ordinal }) => ordinal)).toEqual([4, 5]);
    expect((await status(db, job_id)).stage("race").processing).toBe(6);
  });

  test("a claimer that has locked rows of a full stage does not wait for others who have", async () => {
    const { db, first, second } = floor;
    await floor.clear();
    const [ann, bob] = [await register(db, [], 3600), await register(db, [], 3600)];
    for (const name of ["one", "two"]) {
      await submit(db, [{ name, task: `t.${name}`, max_parallel: 1, plan: { count: 2 } }], {}, { type: name });
      expect((await claim(db, ann, [`t.${name}`], 1)).length).toBe(1);
    }
    await first.transaction(async (tx) => {
      expect(await claim(tx, ann, ["t.one"], 1)).toEqual([]);
      // It finds the row of "one" locked and that of "two" full: with that in hand it must go away, not wait.
      expect(await claim(second, bob, ["t.one", "t.two"], 1)).toEqual([]);
    });
  });

  test("a row held by somebody's open transaction does not keep a claimer for long", async () => {
    const { db, first, second } = floor;
    await floor.clear();
    const bob = await register(db, [], 3600);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.lone') as reply`);
    await first.transaction(async (tx) => {
      await tx.sql`select app.reschedule_task(${reply.task_id}, now())`;
      expect(await claim(second, bob, ["t.lone"], 1)).toEqual([]);
    });
    expect((await claim(db, bob, ["t.lone"], 1)).length).toBe(1);
  });

  test("an ordinal that went back to ready cannot be finished by the claim that once held it", async () => {
    const { ann, bob, held } = await onlyScene();
    const { db } = floor;
    await verbs.release!(db, { number: 0, ann, bob, held, job_id: "" });
    const late = await finish(db, ann, held);
    expect(late).toMatchObject({
      accepted: 0,
      refused: [
        [held[0]!.claim_id, 0, "not_held"],
        [held[0]!.claim_id, 1, "not_held"],
      ],
    });
    expect(await one(db.sql`select count(*)::integer as n from app.results`)).toEqual({ n: 0 });
    expect(await one(db.sql`select count(*)::integer as n from app.attempts where outcome = 'refused'`)).toEqual({
      n: 2,
    });
    await expectSound(db);
  });

  test("cancel against finish has one winner, and the loser is told", async () => {
    const before = await onlyScene();
    const { db } = floor;
    await finish(db, before.ann, before.held);
    await db.sql`select app.cancel_job(${before.job_id})`;
    expect((await status(db, before.job_id)).stage("race")).toMatchObject({ status: "cancelled", completed: 2 });
    const after = await onlyScene();
    await db.sql`select app.cancel_job(${after.job_id})`;
    expect(await finish(db, after.ann, after.held)).toMatchObject({ accepted: 0, advanced: false });
    expect((await status(db, after.job_id)).stage("race")).toMatchObject({ status: "cancelled", completed: 0 });
  });

  test("a claim that slipped in beside a cancel finishes into nothing, and that is recorded", async () => {
    const { ann, held, job_id } = await onlyScene();
    const { db } = floor;
    // What a cancel leaves when a claim commits between its steps: everything closed, the claim still there.
    await db.sql`update app.stage_progress set is_open = false`;
    await db.sql`update app.stages set status = 'cancelled', closed_at = now()`;
    await db.sql`update app.jobs set status = 'cancelled', finished_at = now() where job_id = ${job_id}`;
    await db.sql`delete from app.ready`;
    expect(
      (await finish(db, ann, held, ({ ordinal }) => (ordinal === 0 ? {} : { category: "transient" }))).advanced,
    ).toBe(false);
    for (const table of ["results", "ready", "claims"]) {
      expect([table, await db.sql(Object.assign([`select 1 from app.${table}`], { raw: [] }))]).toEqual([table, []]);
    }
    expect(await db.sql`select outcome, code from app.attempts where outcome = 'refused'`).toEqual([
      { outcome: "refused", code: "stage_closed" },
    ]);
    expect((await status(db, job_id)).status).toBe("cancelled");
  });

  test(`the last two tasks of a stage finishing together open the next stage exactly once, ${rounds} times`, async () => {
    await floor.clear();
    const { db, first, second } = floor;
    const pair = [
      { name: "pair", task: "t.pair", plan: { count: 2 } },
      { name: "next", task: "t.next" },
    ];
    const [ann, bob] = [await register(db, [], 3600), await register(db, [], 3600)];
    for (let page = 0; page < rounds; page += 1000) {
      const jobs = Array.from({ length: 1000 }, (_, n) => ({ parameters: `{"n":${page + n}}` }));
      await db.sql`select app.submit_jobs(
        ${JSON.stringify({ type: "pairs", stages: pair })}::text::jsonb, ${JSON.stringify({ jobs })}::text::json)`;
      // As the janitor does beside any worker.
      await db.sql`select app.refresh_statistics()`;
    }
    // Ann takes every pair, then Bob is given the second task of each: two claims that end their stage between them.
    const pairs: Held[] = [];
    while (pairs.length < rounds * 2) pairs.push(...(await claim(db, ann, ["t.pair"], 10_000)));
    await db.sql`
      insert into app.claims (stage_id, worker_id, tenant_id, task_type, attempt, held)
      select stage_id, ${bob}::text::uuid, tenant_id, task_type, attempt, '{[1,2)}' from app.claims where task_type = 't.pair'`;
    await db.sql`update app.claims set held = '{[0,1)}' where task_type = 't.pair' and worker_id = ${ann}::text::uuid`;
    const rows = await db.sql<{ stage_id: number; hers: number; his: number }>`
      select a.stage_id, a.claim_id as hers, b.claim_id as his
        from app.claims a join app.claims b using (stage_id)
       where a.worker_id = ${ann}::text::uuid and b.worker_id = ${bob}::text::uuid and a.task_type = 't.pair'
       order by a.stage_id`;
    expect(rows.length).toBe(rounds);
    let advanced = 0;
    const finishOneSide = async (session: Database, worker: string, side: "hers" | "his", ordinal: number) => {
      // Sent without waiting for each answer, so that both sessions work through the same stages side by side.
      for (let page = 0; page < rows.length; page += 200) {
        const replies = rows
          .slice(page, page + 200)
          .map((row) =>
            finish(session, worker, [{ ...pairs[0]!, stage_id: row.stage_id, claim_id: row[side], ordinal }]),
          );
        for (const reply of await Promise.all(replies)) if (reply.advanced) advanced++;
      }
    };
    await Promise.all([finishOneSide(first, ann, "hers", 0), finishOneSide(second, bob, "his", 1)]);
    expect(advanced).toBe(rounds);
    expect(
      await one(db.sql`select count(*)::integer as opened, count(distinct job_id)::integer as jobs
        from app.stages s join app.ready r using (stage_id) where s.name = 'next' and s.status = 'processing'`),
    ).toEqual({ opened: rounds, jobs: rounds });
  }, 180_000);
});
