// What a tenant declares is bounded while it runs: what takes long is put off to a claim of its own, whose failure is the stage's.
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { classify } from "../../src/core/errors/errors.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { planByData } from "../../src/engine/work/data_plan.js";
import { bothDatabases, freshDatabase, type OpenDatabase } from "../postgres.js";
import { claim, drain, expectSound, finish, one, register, status, submit } from "./floor.js";

/** As a worker does it: its failure is told with a finish. `on`: the connection that plans. */
async function planOne(db: Database, worker_id: string, on = db): Promise<void> {
  const [held] = await claim(db, worker_id, ["#plan"]);
  expect(held?.ordinal).toBe(-1);
  const store = { get: () => Promise.reject(new Error("nothing was spilled")) } as never;
  try {
    await planByData({ commands: worker_commands, store, worker_id, run: (verb) => verb(on) }, held!.claim_id);
  } catch (error) {
    const { category, code, message } = classify(error);
    await finish(db, worker_id, [held!], () => ({ category, code, message }));
  }
}

const first = { name: "first", task: "t.first" };
const many = (count: number) => Array.from({ length: count }, () => 1);
const long = "x".repeat(240_000);

let run = 0;

function offTests(open: OpenDatabase): void {
  test("a condition over large parameters is judged by a claim of its own, and met or not as it would have been", async () => {
    const db = await open();
    const worker = await register(db);
    const when = { path: `$.parameters.n > 2 && $.parameters.long != "${"y".repeat(60)}"` };
    for (const [n, expected] of [
      [1, "skipped"],
      [3, "completed"],
    ] as const) {
      const { job_id } = await submit(db, [first, { name: "second", task: "t.second", when }], { n, long });
      await finish(db, worker, await claim(db, worker, ["t.first"]));
      expect((await status(db, job_id)).stage("second").status).toBe("planning");
      await drain(db, worker, ["t.second"]);
      const seen = await status(db, job_id);
      expect([seen.status, seen.stage("second").status]).toEqual(["completed", expected]);
      await expectSound(db);
    }
  });

  test("a gate behind a condition that was put off is asked when it is met", async () => {
    const db = await open();
    const worker = await register(db);
    const when = { path: `$.parameters.long != "${"y".repeat(60)}"` };
    const second = { name: "second", task: "t.second", when, gate: { message: "go on?" } };
    const { job_id } = await submit(db, [first, second], { long });
    await drain(db, worker, ["t.first"]);
    expect((await status(db, job_id)).stage("second").status).toBe("waiting_approval");
    await db.sql`select app.decide_gate(${job_id}, 'second', true)`;
    await drain(db, worker, ["t.second"]);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("a path that was taken before there were bounds is not evaluated: its stage fails, also where it was put off", async () => {
    const db = await open();
    const worker = await register(db);
    const bomb = "exists($.parameters.x[*] ? (exists($.parameters.x[*] ? (exists($.parameters.x[*] ? (@ > 1))))))";
    const stages = [first, { name: "second", task: "t.second", when: { path: "$.parameters.x[*] > 5" } }];
    for (const x of [many(3), long]) {
      const { job_id } = await submit(db, stages, { x });
      await db.sql`
        update app.stages set condition = ${JSON.stringify({ path: bomb })}::text::jsonb where job_id = ${job_id} and number = 2`;
      expect((await finish(db, worker, await claim(db, worker, ["t.first"]))).accepted).toBe(1);
      expect((await status(db, job_id)).stage("second")).toMatchObject({
        status: "failed",
        error: { code: "bad_condition", message: expect.stringContaining("looks at $ inside a filter") },
      });
    }
    const each = [first, { name: "second", task: "t.second", parallelism: "fan_out", plan: { each: "$.x[*]" } }];
    const { job_id } = await submit(db, each, { run: run++ });
    await db.sql`
      update app.stages set plan = '{"each": "$.** ? (@ > $.**)"}' where job_id = ${job_id} and number = 2`;
    const tasks = await claim(db, worker, ["t.first"]);
    expect((await finish(db, worker, tasks, () => ({ result: { x: many(5) } }))).accepted).toBe(1);
    await planOne(db, worker);
    expect((await status(db, job_id)).stage("second")).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("has .**") },
    });
  });

  test("stages that open one after the other in one finish are put off when that has taken its time", async () => {
    const db = await open();
    const worker = await register(db);
    const skipped = Array.from({ length: 8 }, (_, at) => ({
      name: `s${at}`,
      task: "t.s",
      after: [1],
      when: { path: "$.parameters.never == true" },
    }));
    const { job_id } = await submit(db, [first, ...skipped], { run: run++ });
    const tasks = await claim(db, worker, ["t.first"]);
    await db.script(`
      create function app.slowly(value boolean) returns boolean language plpgsql as $$ begin perform pg_sleep(0.1); return value; end $$;
      alter function app.stage_condition(app.stages, app.jobs, bigint) rename to stage_condition_quickly;
      create function app.stage_condition(stage app.stages, job app.jobs, most bigint default null) returns boolean
      language sql as $$ select app.slowly(app.stage_condition_quickly(stage, job, most)) $$`);
    try {
      await finish(db, worker, tasks);
      const { stages } = await status(db, job_id);
      expect(stages.filter((stage) => stage.status === "skipped").length).toBeLessThan(8);
      expect(stages.filter((stage) => stage.status === "planning").length).toBeGreaterThan(0);
      await drain(db, worker, []);
      expect((await status(db, job_id)).status).toBe("completed");
    } finally {
      await db.script(`
        drop function app.stage_condition(app.stages, app.jobs, bigint);
        drop function app.slowly(boolean);
        alter function app.stage_condition_quickly(app.stages, app.jobs, bigint) rename to stage_condition`);
    }
  });
}
bothDatabases("what is put off", offTests, { shared: true });

function growthTests(open: OpenDatabase): void {
  const items = Array.from({ length: 300 }, (_, at) => ({ at, text: "x".repeat(400) }));
  const all = { each: "$.items[*]", parameters: { all: "{parameters}" } };

  test("is refused at submit, where the submit would make it", async () => {
    const db = await open();
    await db.sql`select app.set_limits('default', null, '{"plan_bytes": null}')`;
    const large = submit(db, [{ name: "a", task: "t.a", plan: all }], { items });
    const { job_id } = await large;
    await db.sql`select app.cancel_job(${job_id})`;
    await db.sql`select app.set_limits('default', null, '{"plan_bytes": 1000000}')`;
    const refused = submit(db, [{ name: "a", task: "t.a", plan: all }], { items, again: true });
    await expect(refused).rejects.toMatchObject({ code: "FF009", message: expect.stringContaining("1000000 bytes") });
  });

  test.each([
    ["the parameters again and again", { each: "$.items[*]", parameters: { all: "{parameters}" } }],
    [
      "many names in one task",
      { each: "$.items[0]", parameters: { all: Array.from({ length: 900 }, () => "{parameters}") } },
    ],
    ["many names in one text", { each: "$.items[0]", parameters: { all: "{parameters}".repeat(900) } }],
    ["names of nothing", { each: "$.items[*]", parameters: { all: "{parameters.empty}".repeat(1_001) } }],
    ["counted tasks", { count: 100_000, metadata: { all: "{parameters.items}" } }],
  ])("fails its stage with plan_too_large: %s", async (_, made) => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.set_limits('default', null, '{"plan_bytes": 10000000}')`;
    const { job_id } = await submit(db, [first, { name: "second", task: "t.second" }], {
      items,
      empty: "",
      run: run++,
    });
    // As an older release would have taken it.
    await db.sql`
      update app.stages set plan = ${JSON.stringify(made)}::text::jsonb where job_id = ${job_id} and number = 2`;
    expect((await finish(db, worker, await claim(db, worker, ["t.first"]))).accepted).toBe(1);
    if ((await status(db, job_id)).stage("second").status === "planning") await planOne(db, worker);
    expect((await status(db, job_id)).stage("second")).toMatchObject({
      status: "failed",
      error: { code: "plan_too_large" },
    });
    await expectSound(db);
  });

  test("is put off by a submit when its templates take much from the parameters, and never written twice", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.set_limits('default', null, '{"plan_bytes": 64000000}')`;
    const all = { each: "$.items[*]", parameters: { pad: "{parameters.pad}" } };
    const parameters = { items: items.slice(0, 300), pad: "p".repeat(100_000), run: run++ };
    const { job_id } = await submit(db, [{ name: "a", task: "t.a", plan: all }], parameters);
    expect((await status(db, job_id)).stage("a")).toMatchObject({ status: "planning", total: null });
    await planOne(db, worker);
    expect((await status(db, job_id)).stage("a")).toMatchObject({ status: "processing", total: 300 });
  });

  test("is not held against plans of many small tasks", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.set_limits('default', null, '{"plan_bytes": 1000}')`;
    const small = { count: 3_000, index: "t-{ordinal}", parameters: { n: "{ordinal}" } };
    const { job_id } = await submit(db, [{ name: "a", task: "t.a", plan: small }], { run: run++ });
    await planOne(db, worker);
    expect((await status(db, job_id)).stage("a").total).toBe(3_000);
  });
}
bothDatabases("what a plan grows to", growthTests, { shared: true });

/** Whose statements may take so long: the connection says so, and its login role, whose bounds hold where a pooler takes none. */
async function openBounded(admin: Database, url: string, statement_timeout_s: number) {
  const role = `ff_bounded_${randomBytes(4).toString("hex")}`;
  await admin.script(`
    create role ${role} superuser login;
    alter role ${role} set statement_timeout = '${statement_timeout_s}s'`);
  const db = openServer(Object.assign(new URL(url), { username: role }).href, { max: 1, statement_timeout_s });
  const close = async () => {
    await db.close();
    await admin.script(`drop role ${role}`);
  };
  return { db, close };
}

test("a finish whose evaluation is cancelled commits, and the claim that evaluates it instead fails its stage only", async () => {
  const { db: admin, url, drop } = await freshDatabase();
  const { db, close } = await openBounded(admin, url, 0.4);
  try {
    const worker = await register(admin);
    await admin.script(`
      create or replace function app.stage_condition(stage app.stages, job app.jobs, most bigint default null) returns boolean
      language plpgsql as $$ begin perform pg_sleep(60); return true; end $$`);
    const stages = [first, { name: "second", task: "t.second", when: { path: "$.parameters.a == 1" } }];
    const { job_id } = await submit(admin, stages);
    // Its own statement is the one that takes too long, and yet it is taken.
    expect((await finish(db, worker, await claim(admin, worker, ["t.first"]))).accepted).toBe(1);
    expect((await status(admin, job_id)).stage("second").status).toBe("planning");
    await planOne(admin, worker, db);
    const seen = await status(admin, job_id);
    expect(seen.stage("second")).toMatchObject({ status: "failed", error: { code: "bad_condition" } });
    expect(seen.status).toBe("failed");
    const { n } = await one(admin.sql<{ n: number }>`select count(*)::integer as n from app.ready`);
    expect(n).toBe(0);
    // A submit that would evaluate it is taken as well.
    const only = { name: "only", task: "t.only", when: { path: "$.parameters.b == 1" } };
    const root = await submit(db, [only], { b: 1 });
    expect((await status(admin, root.job_id)).stage("only").status).toBe("planning");
  } finally {
    await close();
    await drop();
  }
});

test("a plan that is given up by the database fails its stage with plan_too_large, and is not tried again", async () => {
  const { db: admin, url, drop } = await freshDatabase();
  const { db, close } = await openBounded(admin, url, 0.3);
  try {
    const worker = await register(admin);
    const { job_id } = await submit(admin, [{ name: "wide", task: "t.wide", plan: { count: 10_000_000 } }]);
    await planOne(admin, worker, db);
    expect((await status(admin, job_id)).stage("wide")).toMatchObject({
      status: "failed",
      error: { code: "plan_too_large" },
    });
  } finally {
    await close();
    await drop();
  }
});
