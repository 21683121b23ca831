// How stages follow each other: planned by SQL, closed by the last task out, opened in the same transaction.
import { expect, test } from "vitest";
import { worker_commands } from "../../src/engine/work/commands.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, expectSound, finish, register, status, statuses, submit } from "./floor.js";

bothDatabases("advancing", (open) => {
  test("the last task out closes its stage and opens the next in the same call", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "greet", task: "t.a", plan: { count: 3 } },
      { name: "reply", task: "t.b", parallelism: "match_previous" },
    ]);
    const tasks = await claim(db, worker, ["t.a"]);
    expect(tasks.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
    expect((await finish(db, worker, tasks.slice(0, 2))).advanced).toBe(false);
    expect((await status(db, job_id)).stage("reply").status).toBe("waiting");
    expect((await finish(db, worker, tasks.slice(2))).advanced).toBe(true);
    expect(await statuses(db, job_id)).toEqual(["processing", "completed", "processing"]);
    await drain(db, worker, ["t.b"]);
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "completed"]);
    await expectSound(db);
  });

  test("the tasks of all stages are listed in pages, also by psql", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "greet", task: "t.a", plan: { count: 3 } },
      { name: "reply", task: "t.b", parallelism: "match_previous" },
    ]);
    await drain(db, worker, ["t.a", "t.b"]);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const [row]: { reply: { tasks: { stage: string; ordinal: number }[]; next: string | null } }[] = await db.sql`
        select app.list_tasks(job_id => ${job_id}, page_rows => 2, cursor => ${cursor}::text) as reply`;
      expect(row!.reply.tasks).toHaveLength(2);
      seen.push(...row!.reply.tasks.map(({ stage, ordinal }) => `${stage} ${ordinal}`));
      cursor = row!.reply.next;
    } while (cursor !== null);
    expect(seen).toEqual(["greet 0", "greet 1", "greet 2", "reply 0", "reply 1", "reply 2"]);
  });

  test("a fan-out over data makes one task per item, with templated index and parameters", async () => {
    const db = await open();
    const worker = await register(db);
    await submit(
      db,
      [
        { name: "plan", task: "t.plan" },
        {
          name: "tile",
          task: "t.tile",
          parallelism: "fan_out",
          plan: {
            each: "$.tiles[*]",
            index: "tile-x{x}-y{y}",
            parameters: { x: "{x}", label: "{{{x}/{parameters.zoom}}}", all: "{item}", n: "{ordinal}" },
          },
        },
      ],
      { zoom: 7 },
    );
    const [plan] = await claim(db, worker, ["t.plan"]);
    const tiles = [
      { x: 1, y: 2 },
      { x: 3, y: 4 },
    ];
    await finish(db, worker, [plan!], () => ({ result: { tiles } }));
    const tasks = await claim(db, worker, ["t.tile"]);
    expect(tasks.map(({ index, parameters }) => ({ index, parameters }))).toEqual([
      { index: "tile-x1-y2", parameters: { x: 1, label: "{1/7}", all: { x: 1, y: 2 }, n: 0 } },
      { index: "tile-x3-y4", parameters: { x: 3, label: "{3/7}", all: { x: 3, y: 4 }, n: 1 } },
    ]);
  });

  test("a large data plan is a claim that any worker takes", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [{ name: "wide", task: "t.wide", plan: { count: "{parameters.n}" } }], {
      n: 2500,
    });
    expect(await statuses(db, job_id)).toEqual(["queued", "planning"]);
    const ran = await drain(db, worker, ["t.wide"]);
    expect(new Set(ran.map(({ ordinal }) => ordinal)).size).toBe(2500);
    expect(await statuses(db, job_id)).toEqual(["completed", "completed"]);
    await expectSound(db);
  });

  test("a batched fan-in has one task per batch of ordinals, holes included", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "each", task: "t.each", plan: { count: 25 }, failure_budget: { count: 25 } },
      { name: "fold", task: "t.fold", parallelism: "fan_in", batch: 10 },
      { name: "end", task: "t.end", parallelism: "fan_in" },
    ]);
    await drain(db, worker, ["t.each"], ({ ordinal }) =>
      ordinal < 10 ? { category: "permanent" } : { result: { ordinal } },
    );
    expect((await claim(db, worker, ["t.fold"])).map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
    const seen = await status(db, job_id);
    expect(seen.stage("each")).toMatchObject({ status: "partial_success", completed: 15, failed: 10 });
    expect(seen.stage("fold").total).toBe(3);
  });

  test("a match_previous skips what did not complete before it, and keeps ordinals and hand-overs aligned", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "first", task: "t.first", plan: { count: 4, index: "part-{ordinal}" }, failure_budget: { percent: 50 } },
      { name: "second", task: "t.second", parallelism: "match_previous" },
    ]);
    await drain(db, worker, ["t.first"], ({ ordinal }) =>
      ordinal === 1 ? { category: "permanent" } : { result: {}, next_stage_params: { from: ordinal } },
    );
    const tasks = await claim(db, worker, ["t.second"]);
    expect(tasks.map(({ ordinal, index, parameters }) => [ordinal, index, parameters])).toEqual([
      [0, "part-0", { from: 0 }],
      [2, "part-2", { from: 2 }],
      [3, "part-3", { from: 3 }],
    ]);
    await finish(db, worker, tasks);
    const seen = await status(db, job_id);
    expect(seen.status).toBe("partial_success");
    expect(seen.stage("second")).toMatchObject({ status: "completed", total: 4, completed: 3, skipped: 1 });
    await expectSound(db);
  });

  test("a diamond opens its join once, when both branches have ended", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "root", task: "t.root" },
      { name: "left", task: "t.left", after: [1] },
      { name: "right", task: "t.right", after: [1] },
      { name: "join", task: "t.join", after: [2, 3], of: 2, parallelism: "fan_in" },
    ]);
    await drain(db, worker, ["t.root"]);
    expect(await statuses(db, job_id)).toEqual(["processing", "completed", "processing", "processing", "waiting"]);
    await drain(db, worker, ["t.left"]);
    expect((await status(db, job_id)).stage("join").status).toBe("waiting");
    await drain(db, worker, ["t.right"]);
    expect((await claim(db, worker, ["t.join"])).length).toBe(1);
  });

  test("a fan-out over nothing closes at once, and a fan-in over nothing still folds", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "list", task: "t.list" },
      { name: "each", task: "t.each", parallelism: "fan_out", plan: { each: "$.items[*]" } },
      { name: "fold", task: "t.fold", parallelism: "fan_in" },
    ]);
    await drain(db, worker, ["t.list"], () => ({ result: { items: [] } }));
    expect(await statuses(db, job_id)).toEqual(["processing", "completed", "completed", "processing"]);
    expect((await drain(db, worker, ["t.fold"])).length).toBe(1);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("a stage is skipped when its condition is false, and what has only skipped stages before it is skipped too", async () => {
    const db = await open();
    const worker = await register(db);
    const stages = [
      { name: "make", task: "t.make" },
      { name: "publish", task: "t.publish", when: { path: "$.parameters.publish == true" } },
      { name: "announce", task: "t.announce" },
      { name: "clean", task: "t.clean", after: [1] },
    ];
    const { job_id } = await submit(db, stages, { publish: false });
    await drain(db, worker, ["t.make", "t.publish", "t.announce", "t.clean"]);
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "skipped", "skipped", "completed"]);
    const other = await submit(db, stages, { publish: true });
    const ran = await drain(db, worker, ["t.make", "t.publish", "t.announce", "t.clean"]);
    expect(ran.map(({ stage }) => stage).sort()).toEqual(["announce", "clean", "make", "publish"]);
    expect((await status(db, other.job_id)).status).toBe("completed");
  });

  test("a condition may look at how a stage before it ended", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "try", task: "t.try", plan: { count: 2 }, failure_budget: { count: 2 } },
      { name: "repair", task: "t.repair", when: { path: "$.stages.try.failed > 0" } },
    ]);
    await drain(db, worker, ["t.try"], ({ ordinal }) => (ordinal === 0 ? { category: "permanent" } : {}));
    expect((await status(db, job_id)).stage("repair").status).toBe("processing");
  });

  test("a stage without a plan whose condition is code is one task when the condition holds", async () => {
    const db = await open();
    const worker = await register(db);
    const blueprint = { type: "coded", stages: [{ name: "maybe", task: "t.maybe", when: { function: "hash" } }] };
    const [row] = await db.sql<{ reply: { job_id: string }[] }>`select app.submit_jobs(
      ${JSON.stringify(blueprint)}::text::jsonb, '{"jobs":[{"parameters":"{}"}]}') as reply`;
    const [plan] = await claim(db, worker, ["#plan:coded"]);
    expect(await worker_commands.plan_stage(db, { worker_id: worker, claim_id: plan!.claim_id })).toEqual({ total: 1 });
    expect((await drain(db, worker, ["t.maybe"])).length).toBe(1);
    expect((await status(db, row!.reply[0]!.job_id)).status).toBe("completed");
  });

  test("a condition that cannot be evaluated fails its stage with the reason, and not the finish before it", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "first", task: "t.first" },
      { name: "second", task: "t.second", when: { path: "$.parameters.a == 1" } },
    ]);
    // As a version that took any path may have left it.
    await db.sql`update app.stages set condition = '{"path": "$nope == 1"}' where job_id = ${job_id} and name = 'second'`;
    expect((await finish(db, worker, await claim(db, worker, ["t.first"]))).accepted).toBe(1);
    const seen = await status(db, job_id);
    expect([seen.status, seen.stage("second").status]).toEqual(["failed", "failed"]);
    expect(seen.error?.message).toContain("condition");
  });

  test("an after that is named twice is waited for once", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "first", task: "t.first" },
      { name: "second", task: "t.second", after: [1, 1] },
    ]);
    await drain(db, worker, ["t.first", "t.second"]);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("a data plan that cannot be made fails its stage with the reason, and not the finish before it", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [
      { name: "list", task: "t.list" },
      { name: "each", task: "t.each", parallelism: "fan_out", plan: { each: "$.items[*]", index: "{name}" } },
    ]);
    const [list] = await claim(db, worker, ["t.list"]);
    await finish(db, worker, [list!], () => ({ result: { items: [{ name: "a" }, { name: "a" }] } }));
    expect(await statuses(db, job_id)).toEqual(["processing", "completed", "planning"]);
    const [plan] = await claim(db, worker, ["#plan"]);
    await expect(drainPlan(plan!.claim_id)).rejects.toMatchObject({ code: "23505" });
    await finish(db, worker, [plan!], () => ({
      category: "permanent",
      code: "bad_plan",
      message: "two tasks have the same index",
    }));
    const seen = await status(db, job_id);
    expect([seen.status, seen.stage("each").status, seen.error?.message]).toEqual([
      "failed",
      "failed",
      "two tasks have the same index",
    ]);

    function drainPlan(claim_id: number): Promise<unknown> {
      return db.sql`select app.plan_stage(${worker}::text::uuid, ${claim_id}::bigint) as reply`;
    }
  });

  test("a job is queued until something of it is claimed, then processing", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [{ name: "only", task: "t.only", plan: { count: 2 } }]);
    expect((await status(db, job_id)).status).toBe("queued");
    await claim(db, worker, ["t.only"], 1);
    expect((await status(db, job_id)).status).toBe("processing");
  });

  test("a job past its deadline fails with that reason, and what it held is refused", async () => {
    const db = await open();
    const worker = await register(db);
    const slow = await submit(
      db,
      [{ name: "slow", task: "t.slow", plan: { count: 3 } }],
      {},
      { options: { deadline_s: 60 } },
    );
    const calm = await submit(
      db,
      [{ name: "calm", task: "t.calm" }],
      {},
      { type: "calm", options: { deadline_s: 60 } },
    );
    const held = await claim(db, worker, ["t.slow"], 2);
    expect(await worker_commands.expire_jobs(db)).toMatchObject({ expired: 0 });
    await db.sql`update app.jobs set deadline_at = now() - interval '1 second' where job_id = ${slow.job_id}`;
    expect(await worker_commands.expire_jobs(db)).toMatchObject({ expired: 1 });
    expect(await worker_commands.expire_jobs(db)).toMatchObject({ expired: 0 });
    expect((await finish(db, worker, held)).accepted).toBe(0);
    const seen = await status(db, slow.job_id);
    expect([seen.status, seen.error]).toMatchObject(["failed", { code: "deadline" }]);
    expect((await status(db, calm.job_id)).status).toBe("queued");
    await expectSound(db);
  });
});
