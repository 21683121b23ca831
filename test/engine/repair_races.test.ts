// The operator's verbs and the janitor's duties meet each other and the workers' verbs, in both orders, on an open job and on an
// ended one. Whatever happens: no deadlock, every task in one place, and honest workers bring the job to an end.
import { describe, expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { claim, drain, expectSound, finish, type Held, one, register, status, submit } from "./floor.js";
import { twoSessions, type Verb } from "./interleave.js";

/** A job of its own among those of the scenes before: emptying the tables would have every statement planned again. */
interface Scene {
  number: number;
  job_id: string;
  ann: string;
  bob: string;
  /** Ordinals 0 and 1 of the first stage, which Ann holds, or held when the job ended. */
  held: Held[];
  stage_id: number;
}

const types = ["t.race", "t.after", "t.fold"];
const stages = (on_task_failure: string) => [
  { name: "race", task: "t.race", plan: { count: 6 }, failure_budget: { count: 1 }, on_task_failure },
  { name: "after", task: "t.after", parallelism: "match_previous" },
  { name: "fold", task: "t.fold", parallelism: "fan_in", batch: 2 },
];

const by_operators: Record<string, Verb<Scene>> = {
  pause: (db, { job_id }) => db.sql`select app.pause_job(${job_id})`,
  continue: (db, { job_id }) => db.sql`select app.continue_job(${job_id})`,
  change: (db, { job_id }) => db.sql`select app.change_job(${job_id}, 5, 7)`,
  skip_waiting: (db, { stage_id }) => db.sql`select app.skip_task(${`${stage_id}-4`}, 'unwanted')`,
  skip_held: (db, { stage_id }) => db.sql`select app.skip_task(${`${stage_id}-0`}, 'unwanted')`,
  cancel: (db, { job_id }) => db.sql`select app.cancel_job(${job_id})`,
  resume: (db, { job_id }) => db.sql`select app.resume_job(${job_id})`,
  retry_stage: (db, { job_id }) => db.sql`select app.retry_stage(${job_id}, 'race')`,
  retry_task: (db, { stage_id }) => db.sql`select app.retry_task(${`${stage_id}-5`})`,
  retry_tasks: (db, { job_id }) => db.sql`select app.retry_tasks(${job_id}, 'race', '[[0, 1], [3, 6]]')`,
  skip_tasks: (db, { job_id }) =>
    db.sql`select app.skip_tasks(${job_id}, 'race', '[[0, 1], [3, 5]]', 'unwanted', '["queued", "processing", "failed", "cancelled"]')`,
  submit_resume: (db, { number }) => submit(db, stages("finish_stage"), { scene: number }, { mode: "resume" }),
};

const by_the_janitor: Record<string, Verb<Scene>> = {
  reap: async (db, { ann }) => {
    await db.sql`update app.workers set heartbeat_at = 'epoch' where worker_id = ${ann}::text::uuid`;
    return worker_commands.reap_workers(db);
  },
  expire_job: async (db, { job_id }) => {
    await db.sql`update app.workers set running = '[]'`;
    return db.sql`select app.end_job(j, 'failed', '{"message": "late"}') from app.jobs j where j.job_id = ${job_id}`;
  },
  mend: (db, { job_id }) => db.sql`select app.mend_job(gen_random_uuid(), 'default', ${job_id})`,
  sweep_ready: (db) => db.sql`select app.sweep_ready()`,
  sweep_claims: (db) => db.sql`select app.sweep_claims()`,
};

const by_workers: Record<string, Verb<Scene>> = {
  claim: (db, { bob }) => claim(db, bob, types, 3),
  finish: (db, { ann, held }) => finish(db, ann, held),
  fail: (db, { ann, held }) => finish(db, ann, held, () => ({ category: "permanent" })),
  retry: (db, { ann, held }) => finish(db, ann, held, () => ({ category: "throttled", retry_after_s: 0 })),
  release: (db, { ann, held }) =>
    worker_commands.release(db, { worker_id: ann, items: [{ c: held[0]!.claim_id, o: [0, 1] }] }),
};

const is_soak = Boolean(process.env.FANFOLD_TEST_SOAK);
const verbs = { ...by_operators, ...by_the_janitor, ...by_workers };
const new_verbs: Record<string, Verb<Scene>> = { ...by_operators, ...by_the_janitor };

describe("operators, janitor and workers meet on a real server", () => {
  const floor = twoSessions();
  let scenes_set = 0;

  async function openJob(on_task_failure: string): Promise<Scene> {
    const { db } = floor;
    const number = ++scenes_set;
    const [ann, bob] = [await register(db, [], 3600), await register(db, [], 3600)];
    const { job_id } = await submit(db, stages(on_task_failure), { scene: number });
    const held = await claim(db, ann, ["t.race"], 2);
    return { number, job_id, ann, bob, held, stage_id: held[0]!.stage_id };
  }

  /** Ended as a partial success: one task of the first stage failed, and a resume began and was cancelled half way. */
  async function endedJob(): Promise<Scene> {
    const scene = await openJob("finish_stage");
    const { db } = floor;
    await finish(db, scene.ann, scene.held);
    await drain(db, scene.ann, types, ({ stage, ordinal }) =>
      stage === "race" && ordinal === 5 ? { category: "permanent" } : {},
    );
    expect((await status(db, scene.job_id)).status).toBe("partial_success");
    await db.sql`select app.retry_stage(${scene.job_id}, 'race')`;
    const held = await claim(db, scene.ann, ["t.race"], 2);
    await db.sql`select app.cancel_job(${scene.job_id})`;
    return { ...scene, held };
  }

  async function expectEnds({ job_id, stage_id }: Scene, story: string): Promise<void> {
    const { db } = floor;
    await expectSound(db, stage_id);
    await db.sql`update app.workers set heartbeat_at = 'epoch' where status = 'live'`;
    await worker_commands.reap_workers(db);
    if ((await status(db, job_id)).paused_at !== null) await db.sql`select app.continue_job(${job_id})`;
    const worker = await register(db, [], 3600);
    await drain(db, worker, types);
    if ((await status(db, job_id)).status !== "completed") {
      await db.sql`select app.resume_job(${job_id})`;
      await drain(db, worker, types);
    }
    expect([story, (await status(db, job_id)).status]).toEqual([story, "completed"]);
    await expectSound(db, stage_id);
    await expectNothingLeft(db, story);
  }

  async function expectNothingLeft(db: Queryable, story: string): Promise<void> {
    const left = await one(
      db.sql`select (select count(*)::int from app.ready) as ready, (select count(*)::int from app.claims) as claims`,
    );
    expect([story, left]).toEqual([story, { ready: 0, claims: 0 }]);
  }

  test("the only task of a stage, skipped while its job is being resumed, closes the stage", async () => {
    const { db } = floor;
    const ann = await register(db, [], 3600);
    const { job_id } = await submit(db, [{ name: "race", task: "t.race" }], { scene: ++scenes_set });
    const held = await claim(db, ann, types);
    await finish(db, ann, held, () => ({ category: "permanent" }));
    const task_id = `${held[0]!.stage_id}-0`;
    const resume: Verb<null> = (tx) => tx.sql`select app.resume_job(${job_id})`;
    const skip: Verb<null> = (tx) => tx.sql`select app.skip_task(${task_id}, 'unwanted')`;
    await floor.meet(null, ["resume", resume], ["skip", skip]);
    expect((await status(db, job_id)).status).toBe("completed");
    await expectNothingLeft(db, "resume then skip");
  });

  /** An ended job refuses the others at once, or leaves them nothing to do, and after that nothing can meet: they come second. */
  const on_ended_jobs = [
    "skip_waiting",
    "skip_held",
    "resume",
    "retry_stage",
    "retry_task",
    "retry_tasks",
    "skip_tasks",
  ];
  const some = is_soak ? Object.keys(new_verbs) : [...on_ended_jobs, "submit_resume", "cancel", "mend"];

  const scenes: [string, () => Promise<Scene>, Record<string, Verb<Scene>>, string[]][] = [
    ["an open job", () => openJob("finish_stage"), verbs, Object.keys(new_verbs)],
    // It is like any other until a task fails, so it need only meet what fails one.
    ["a job that fails fast", () => openJob("fail_fast"), { fail: by_workers.fail! }, Object.keys(new_verbs)],
    ["an ended job", endedJob, verbs, some],
  ];
  for (const [place, setScene, others, firsts] of scenes) {
    for (const a of firsts) {
      const first = new_verbs[a]!;
      test(`on ${place}, ${a} against each other verb, whoever commits first`, async () => {
        const meet = async (x: [string, Verb<Scene>], y: [string, Verb<Scene>]) => {
          const scene = await setScene();
          await floor.meet(scene, x, y);
          await expectEnds(scene, `${place}: ${x[0]} then ${y[0]}`);
        };
        for (const [b, second] of Object.entries(others)) {
          await meet([a, first], [b, second]);
          // The other order of two new verbs is the other one's own test.
          if (!(b in new_verbs)) await meet([b, second], [a, first]);
        }
      }, 60_000);
    }
  }
});
