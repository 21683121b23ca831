import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import type { Deliverable } from "../../src/core/task/context.js";
import { openShop } from "./shop.js";

test("the status of a partial success says what can be used, what failed and how to recover, and is repaired later", async () => {
  let broken = true;
  const cog = defineHandler("dl.cog", {}, (_, ctx) => {
    ctx.deliver({ name: "cogs", location: "silver/civ/" });
    if (ctx.ordinal % 10 === 3)
      ctx.deliver({ name: "previews", count: 2, location: `p/${ctx.ordinal}`, usable: ctx.ordinal > 3 });
    return {};
  });
  const register = defineHandler("dl.register", {}, (_, ctx) => {
    ctx.deliver({ name: "stac_items", count: 20 });
    if (broken) throw new Permanent("the catalogue is down");
    return {};
  });
  const job = defineJob({
    type: "deliver",
    stages: [
      { name: "cog", task: "dl.cog", tasks: { count: 20 }, description: "COG creation" },
      {
        name: "register",
        task: "dl.register",
        parallelism: "fan_in",
        importance: "important",
        description: "STAC registration",
      },
    ],
  });
  const shop = await openShop({ jobs: [job], handlers: [cog, register] });
  const { job_id } = await shop.engine.submit(job, {});
  await shop.worker();
  const partial = await shop.engine.wait(job_id);
  expect(partial).toMatchObject({ status: "partial_success", resumable: true, resume_from_stage: 2 });
  expect(partial.outcomes).toMatchObject([
    { objective: "COG creation", status: "succeeded", completed: 20, recovery: null },
    {
      objective: "STAC registration",
      status: "failed",
      error: { message: "the catalogue is down" },
      recovery: partial.resume_hint,
    },
  ]);
  const cogs = {
    name: "cogs",
    stage: "cog",
    count: 20,
    location: "silver/civ/",
    locations: ["silver/civ/"],
    usable: true,
    tasks: 20,
    at_least: false,
  };
  const previews = {
    name: "previews",
    stage: "cog",
    count: 4,
    location: null,
    locations: ["p/13", "p/3"],
    usable: false,
    tasks: 2,
    at_least: false,
  };
  // What a failed task told of is not there.
  expect(partial.deliverables).toEqual([cogs, previews]);
  broken = false;
  await shop.engine.operate.resume(job_id);
  expect(await shop.engine.wait(job_id)).toMatchObject({
    status: "completed",
    deliverables: [cogs, previews, { name: "stac_items", count: 20, location: null, locations: null }],
    outcomes: [{ status: "succeeded" }, { status: "succeeded", recovery: null }],
  });
});

test("a deliverable that is none fails the task for good, with every problem and its path", async () => {
  const wrong = { name: "", count: -1, location: 7, usable: "yes" } as unknown as Deliverable;
  const shop = await openShop({ handlers: [defineHandler("dl.bad", {}, (_, ctx) => ctx.deliver(wrong))] });
  const { task_id } = await shop.engine.enqueue("dl.bad", {});
  await (await shop.worker()).idle();
  const { status, error, attempts } = await shop.engine.task(task_id);
  expect([status, error?.category, attempts.length]).toEqual(["failed", "contract", 1]);
  for (const path of ["$.name", "$.count", "$.location", "$.usable"]) expect(error!.message).toContain(path);
});

test("a result that is not what the handler declares fails the task for good, with the path; its neighbours are stored", async () => {
  const result = z.object({ tiles: z.array(z.object({ x: z.int() })), note: z.string().default("none") });
  const shop = await openShop({
    handlers: [
      defineHandler("dl.typed", { result }, async ({ x }: { x?: unknown }) => ({ tiles: [{ x }] })),
      defineHandler("dl.sync", { result: z.int() }, ({ x }: { x?: unknown }) => x),
    ],
  });
  const ids = await Promise.all(
    [
      ["dl.typed", 1],
      ["dl.typed", "one"],
      ["dl.sync", 2],
      ["dl.sync", null],
    ].map(async ([type, x]) => (await shop.engine.enqueue(type as string, { x })).task_id),
  );
  await (await shop.worker()).idle();
  const [good, bad, sync, none] = await Promise.all(ids.map((id) => shop.engine.task(id)));
  expect(good).toMatchObject({ status: "completed", result: { tiles: [{ x: 1 }], note: "none" } });
  expect(bad).toMatchObject({
    status: "failed",
    error: { category: "contract", message: expect.stringContaining("$.tiles[0].x") },
  });
  expect(sync).toMatchObject({ status: "completed", result: 2 });
  expect(none).toMatchObject({ status: "failed", error: { category: "contract" } });
  expect(bad!.attempts.length).toBe(1);
});
