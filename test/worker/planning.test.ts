import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import type { Database } from "../../src/engine/database/database.js";
import { armFault } from "../../src/fault.js";
import { Holdings } from "../../src/worker/claim/held.js";
import { Plans } from "../../src/worker/life/connections.js";
import { LOADED_BYTES, type PlanningParts, planStage } from "../../src/worker/plan/planning.js";
import type { TaskContext } from "../../src/worker/run/context.js";
import { eventually, gate, openEmbeddedShop, openShop, runWorker } from "./shop.js";

const noop = defineHandler("noop", {}, () => {});
const list = defineHandler("list", {}, () => ({
  tiles: [
    { x: 1, y: 2 },
    { x: 3, y: 4 },
  ],
}));

function planned(tasks: Parameters<typeof defineJob>[0]["stages"][number]["tasks"], extra: object = {}) {
  return defineJob({
    type: "planned",
    parameters: z.object({ n: z.int().default(3) }),
    stages: [{ name: "many", task: "noop", max_attempts: 2, tasks, ...extra }],
  });
}

test("a planner's 20,000 tasks arrive in pages, each once", async () => {
  const job = planned(async function* ({ parameters }) {
    for (let n = 0; n < parameters.n; n++) yield { index: `tile-${n}`, parameters: { n }, metadata: { row: n % 7 } };
  });
  const shop = await openShop({ jobs: [job], handlers: [noop] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("planned", { n: 20_000 });
  expect(await shop.engine.wait(job_id)).toMatchObject({
    status: "completed",
    stages: [{ total: 20_000, completed: 20_000 }],
  });
  const [row] = await shop.db.sql`
    select count(*)::int as n, count(distinct index)::int as indexes, max(ordinal)::int as last,
           bool_and((parameters ->> 'n')::int = ordinal and index = 'tile-' || ordinal) as aligned
      from app.tasks`;
  expect(row).toEqual({ n: 20_000, indexes: 20_000, last: 19_999, aligned: true });
  const events = await shop.engine.events(job_id);
  const planned_event = events.find((event) => event.kind === "stage.planned");
  expect(planned_event?.data).toMatchObject({ total: 20_000, plan_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test("a planner reads the results of the stage before", async () => {
  const job = defineJob({
    type: "tiled",
    stages: [
      { name: "list", task: "list" },
      {
        name: "tile",
        task: "noop",
        parallelism: "fan_out",
        tasks: async ({ previous }) => {
          const { tiles } = await previous.one();
          return tiles.map((tile: { x: number; y: number }) => ({
            index: `x${tile.x}-y${tile.y}`,
            parameters: { tile },
          }));
        },
      },
    ],
  });
  const shop = await openShop({ jobs: [job], handlers: [noop, list] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("tiled", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  const rows = await shop.db.sql<{
    index: string;
  }>`select index from app.tasks where index is not null order by ordinal`;
  expect(rows.map((row) => row.index)).toEqual(["x1-y2", "x3-y4"]);
});

test("the embedded database is planned by functions too", async () => {
  const shop = await openEmbeddedShop({
    jobs: [planned(({ parameters }) => Array(parameters.n).fill({}))],
    handlers: [noop],
  });
  await shop.worker();
  const { job_id } = await shop.engine.submit("planned", { n: 6000 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 6000 }] });
});

test("a planner that makes no task closes its stage at once", async () => {
  const shop = await openShop({ jobs: [planned(() => [])], handlers: [noop] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("planned", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ total: 0 }] });
});

test("a condition that says no skips its stage, one that says yes lets it be planned", async () => {
  const job = defineJob({
    type: "choosy",
    parameters: z.object({ publish: z.boolean() }),
    stages: [{ name: "publish", task: "noop", when: ({ parameters }) => parameters.publish, tasks: { count: 2 } }],
  });
  const shop = await openShop({ jobs: [job], handlers: [noop] });
  await shop.worker();
  const no = await shop.engine.submit("choosy", { publish: false });
  const yes = await shop.engine.submit("choosy", { publish: true });
  expect(await shop.engine.wait(no.job_id)).toMatchObject({ status: "completed", stages: [{ status: "skipped" }] });
  expect(await shop.engine.wait(yes.job_id)).toMatchObject({ status: "completed", stages: [{ total: 2 }] });
});

test("a bad plan fails the stage at once with what is wrong and where", async () => {
  const job = planned(() => [{ index: "fine" }, { index: "too-big", parameters: { text: "x".repeat(262_144) } }]);
  const shop = await openShop({ jobs: [job], handlers: [noop] });
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("planned", {});
  const status = await shop.engine.wait(job_id);
  expect(status.status).toBe("failed");
  const message = JSON.stringify(status.stages[0]!.error);
  expect(message).toContain("too-big");
  expect(message).toContain("262144");
  await worker.idle();
  expect(await shop.db.sql`select category from app.attempts`).toEqual([{ category: "contract" }]);
});

test("a planner that throws is tried again like any task", async () => {
  let tries = 0;
  const job = planned(() => {
    if (++tries === 1) throw new Error("not yet");
    return [{}];
  });
  const shop = await openShop({ jobs: [job], handlers: [noop] });
  await shop.worker({ poll_s: 0.05 });
  const { job_id } = await shop.engine.submit("planned", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ total: 1 }] });
  expect(tries).toBe(2);
});

test("a planner that fails for good fails its stage", async () => {
  const job = planned(() => {
    throw new Permanent("there is no such dataset");
  });
  const shop = await openShop({ jobs: [job], handlers: [noop] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("planned", {});
  const status = await shop.engine.wait(job_id);
  expect(status.status).toBe("failed");
  expect(JSON.stringify(status.stages[0]!.error)).toContain("there is no such dataset");
});

test("a planner lost midway is run again by another worker, and every task exists once", async () => {
  const job = planned(function* ({ parameters }) {
    for (let n = 0; n < parameters.n; n++) yield { index: `tile-${n}` };
  });
  const shop = await openShop({ jobs: [job], handlers: [noop] });
  const reached = gate();
  const held = gate();
  const disarm = armFault("mid-plan", async () => {
    disarm();
    reached.open();
    await held.passed;
  });
  onTestFinished(disarm);
  const first = await shop.worker({ lease_s: 1 });
  const { job_id } = await shop.engine.submit("planned", { n: 12_000 });
  await reached.passed;
  // The first page is in. The planner hangs there while its worker is declared dead.
  await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
  await shop.engine.worker_commands.reap_workers(shop.db);
  const second = await runWorker(shop.engine, { lease_s: 30 });
  expect(await shop.engine.wait(job_id)).toMatchObject({
    status: "completed",
    stages: [{ total: 12_000, completed: 12_000 }],
  });
  held.open();
  await eventually(() => first.stats().fenced === 1);
  expect(second.stats().planned + first.stats().planned).toBe(1);
  const [row] = await shop.db.sql`select count(*)::int as n, count(distinct index)::int as indexes from app.tasks`;
  expect(row).toEqual({ n: 12_000, indexes: 12_000 });
});

test("a data plan does not load more spilled results than fit into memory", async () => {
  let loads = 0;
  const needs = [0, 1].map((o) => ({
    o,
    s: { store: "file", key: `k${o}`, bytes: LOADED_BYTES / 2 + 1, sha256: "00" },
  }));
  const parts = {
    commands: { plan_stage: async () => ({ needs }) },
    plans: new Plans(() => ({}) as Database),
    holdings: new Holdings(),
  } as unknown as PlanningParts;
  const storage = { get: async () => Buffer.from(String(++loads)) };
  const ctx = { claim: { claim_id: 1, stage: { planner: "data" } }, storage } as unknown as TaskContext;
  const planning = planStage(parts, ctx);
  await expect(planning).rejects.toBeInstanceOf(Permanent);
  await expect(planning).rejects.toThrow("plan this stage with a function");
  expect(loads).toBe(0);
});

test("of one tenant's plans one is made at a time, and another's does not wait for it", async () => {
  const plans = new Plans(() => ({}) as Database);
  const { passed, open } = gate();
  const order: string[] = [];
  const note = (name: string) => async () => void order.push(name);
  const long = plans.take("evil", async () => {
    order.push("long");
    await passed;
  });
  const behind = plans.take("evil", note("behind"));
  await plans.take("calm", note("calm"));
  expect(order).toEqual(["long", "calm"]);
  open();
  await Promise.all([long, behind]);
  expect(order).toEqual(["long", "calm", "behind"]);
});
