// Races around planning: a plan is a claim like any other, and a job that ends meanwhile wins.
import { describe, expect, test } from "vitest";
import { worker_commands } from "../../src/engine/work/commands.js";
import { claim, drain, expectSound, finish, type Held, register, status, submit } from "./floor.js";
import { twoSessions, type Verb } from "./interleave.js";

interface Scene {
  job_id: string;
  ann: string;
  /** The planning of the stage, held by Ann, with two tasks sent. */
  plan: Held;
}

const stages = [
  { name: "list", task: "t.list" },
  { name: "each", task: "t.each", parallelism: "fan_out", plan: { each: "$.items[*]" } },
];

const verbs: Record<string, Verb<Scene>> = {
  plan_tasks: (db, { ann, plan }) =>
    worker_commands.plan_tasks(db, { worker_id: ann, claim_id: plan.claim_id, from: 0, tasks: '[{"p":{}},{"p":{}}]' }),
  plan_done: (db, { ann, plan }) =>
    worker_commands.plan_done(db, {
      worker_id: ann,
      claim_id: plan.claim_id,
      total: 2,
      task_bytes: 2,
      plan_hash: null,
    }),
  plan_skip: (db, { ann, plan }) =>
    worker_commands.plan_done(db, {
      worker_id: ann,
      claim_id: plan.claim_id,
      total: 0,
      task_bytes: 0,
      plan_hash: null,
      skip: "when",
    }),
  plan_stage: (db, { ann, plan }) =>
    worker_commands.plan_stage(db, { worker_id: ann, claim_id: plan.claim_id, loaded: [] }),
  plan_fails: (db, { ann, plan }) => finish(db, ann, [plan], () => ({ category: "permanent" })),
  release: (db, { ann, plan }) =>
    worker_commands.release(db, { worker_id: ann, items: [{ c: plan.claim_id, o: [-1] }] }),
  reap: async (db, { ann }) => {
    await db.sql`update app.workers set heartbeat_at = 'epoch' where worker_id = ${ann}::text::uuid`;
    return worker_commands.reap_workers(db);
  },
  cancel: (db, { job_id }) => db.sql`select app.cancel_job(${job_id})`,
};

describe("races around planning", () => {
  const floor = twoSessions();

  async function setScene(): Promise<Scene> {
    const { db } = floor;
    await floor.clear();
    const ann = await register(db, [], 3600);
    const { job_id } = await submit(db, stages);
    // More items than are planned on the spot, so that a planner is asked for.
    const items = Array.from({ length: 1001 }, () => ({}));
    await finish(db, ann, await claim(db, ann, ["t.list"]), () => ({ result: { items } }));
    const [plan] = await claim(db, ann, ["#plan"]);
    const scene = { job_id, ann, plan: plan! };
    await verbs.plan_tasks!(db, scene);
    return scene;
  }

  test("an index or a bbox that no task may have is refused with what it should be", async () => {
    const { ann, plan } = await setScene();
    const page = (task: object) =>
      worker_commands.plan_tasks(floor.db, {
        worker_id: ann,
        claim_id: plan.claim_id,
        from: 0,
        tasks: JSON.stringify([{ i: "fine", bbox: [1, 2, 3, 4] }, task]),
      });
    for (const task of [{ i: "" }, { i: "x".repeat(201) }, { bbox: [1, 2, 3] }, { i: "flat", bbox: [] }])
      await expect(page(task)).rejects.toMatchObject({ code: "FF002" });
    await page({ i: "x".repeat(200), bbox: [1, 2, 3, 4, 5, 6] });
  });

  for (const [a, first] of Object.entries(verbs)) {
    test(`${a} against each other verb plans the stage once or not at all`, async () => {
      for (const [b, second] of Object.entries(verbs)) {
        const scene = await setScene();
        await floor.meet(scene, [a, first], [b, second]);
        await expectSound(floor.db);
        await floor.db.sql`update app.workers set heartbeat_at = 'epoch' where status = 'live'`;
        await worker_commands.reap_workers(floor.db);
        await drain(floor.db, await register(floor.db, [], 3600), ["t.each"]);
        const seen = await status(floor.db, scene.job_id);
        expect([a, b, ["completed", "failed", "cancelled"].includes(seen.status)]).toEqual([a, b, true]);
        expect([a, b, [0, 2, 1001].includes(seen.stage("each").total ?? 0)]).toEqual([a, b, true]);
        await expectSound(floor.db);
      }
    });
  }
});
