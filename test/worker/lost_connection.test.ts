// What is not a task's fault costs it no attempt: connections of ours that are lost, and results that find no room.
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import type { Database } from "../../src/engine/database/database.js";
import { node_args } from "./isolation_shop.js";
import { isolated_large, isolated_sits, returnsMuch, sitsInStatement } from "./lost_handlers.js";
import { attemptsOf, eventually, gate, openShop } from "./shop.js";

const single = (type: string, task: string) => defineJob({ type, stages: [{ name: "s", task, max_attempts: 1 }] });

test.each([
  ["in the worker", defineHandler("sits", {}, sitsInStatement as never)],
  ["in a process of its own", isolated_sits],
])("a connection that is lost under ctx.db costs a handler %s no attempt", async (_, handler) => {
  const parts = { jobs: [single("loses", handler.name)], handlers: [handler] };
  const { engine, db, storage_dir, worker } = await openShop(parts);
  await worker({ isolation_node_args: node_args });
  const until = join(storage_dir, "enough");
  const { job_id } = await engine.submit("loses", { until });
  for (let lost = 1; lost <= 2; lost++) {
    await endConnection(db, "PgSleep");
    if (lost === 2) await writeFile(until, "");
    await eventually(async () => (await attemptsOf(db)).length === lost);
    await db.sql`update app.ready set run_at = now()`;
  }
  expect(await engine.wait(job_id)).toMatchObject({ status: "completed" });
  const released = { ordinal: 0, attempt: 1, outcome: "released", code: "sqlstate_08006" };
  expect(await attemptsOf(db)).toEqual([released, released]);
});

/** As a restart of the database would, in the middle of a statement that waits for this or has it in its text. */
async function endConnection(db: Database, where: string): Promise<void> {
  await eventually(async () => {
    const [row] = await db.sql<{ ended: boolean }>`
      select coalesce(bool_or(pg_terminate_backend(pid)), false) as ended from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and wait_event_type in ('Lock', 'Timeout')
         and (wait_event = ${where} or strpos(query, ${where}) > 0)`;
    return row!.ended;
  });
}

test("a plan whose connection is lost is made again, whatever its attempts", async () => {
  const noop = defineHandler("noop", {}, () => {});
  const job = defineJob({
    type: "planned",
    stages: [{ name: "s", task: "noop", max_attempts: 1, tasks: () => [{ index: "a" }, { index: "b" }] }],
  });
  const { engine, db, worker } = await openShop({ jobs: [job], handlers: [noop] });
  const { job_id } = await engine.submit("planned", {});
  const locked = gate();
  const holder = db.transaction(async (session) => {
    await session.sql`lock table app.tasks in share mode`;
    locked.open();
    // It waits for us when it dies: three times.
    for (let lost = 0; lost < 3; lost++) {
      await endConnection(db, "app.plan_tasks");
      await eventually(async () => (await attemptsOf(db)).length === lost + 1);
      await db.sql`update app.ready set run_at = now()`;
    }
  });
  await locked.passed;
  await worker({ poll_s: 0.05 });
  await holder;
  expect(await engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ total: 2, completed: 2 }] });
  expect((await attemptsOf(db)).map(({ outcome, attempt }) => ({ outcome, attempt }))).toEqual(
    Array.from({ length: 3 }, () => ({ outcome: "released", attempt: 1 })),
  );
});

test.each([
  ["in the worker", defineHandler("large", {}, returnsMuch)],
  ["in a process of its own", isolated_large],
])("a result that storage does not take is no failure of a handler %s", async (_, large) => {
  const parts = { jobs: [single("spills", large.name)], handlers: [large] };
  const { engine, db, storage_dir, worker } = await openShop(parts);
  await rename(storage_dir, `${storage_dir}-away`);
  await writeFile(storage_dir, "no folder");
  await worker({ isolation_node_args: node_args });
  const { job_id } = await engine.submit("spills", {});
  await eventually(async () => (await attemptsOf(db)).length > 0);
  await rm(storage_dir);
  await rename(`${storage_dir}-away`, storage_dir);
  expect(await engine.wait(job_id)).toMatchObject({ status: "completed" });
  for (const attempt of await attemptsOf(db)) {
    expect(attempt).toMatchObject({ attempt: 1, outcome: "released", code: "storage" });
  }
});

test("200 tasks whose service is away for a while complete without a person", async () => {
  let away = true;
  const calls = defineHandler("calls", {}, () => {
    if (away) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  });
  const job = defineJob({
    type: "outage",
    stages: [{ name: "s", task: "calls", tasks: { count: 200 } }],
  });
  const { engine, db, worker } = await openShop({ jobs: [job], handlers: [calls] });
  // Far more failures than there were attempts before, in a second.
  await worker({ retry: { base_s: 0.05, cap_s: 0.2 }, poll_s: 0.05 });
  const { job_id } = await engine.submit("outage", {});
  await eventually(async () => {
    const [row] = await db.sql<{ most: number }>`select coalesce(max(attempt), 0)::integer as most from app.ready`;
    return row!.most > 5;
  });
  away = false;
  expect(await engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 200, failed: 0 }] });
});
