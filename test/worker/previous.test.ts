import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { eventually, openEmbeddedShop, openShop } from "./shop.js";

const square = defineHandler("square", {}, (_, ctx) => ({ n: ctx.ordinal, square: ctx.ordinal ** 2 }));

const squares = (fold: object, n = 2500) =>
  defineJob({
    type: "squares",
    stages: [
      { name: "make", task: "square", tasks: { count: n, index: "n-{ordinal}" } },
      { name: "fold", task: "sum", parallelism: "fan_in", ...fold },
    ],
  });

const sum = defineHandler("sum", {}, async (_, ctx) => {
  let total = 0;
  let count = 0;
  for await (const { result } of ctx.previous) {
    total += result.square;
    count++;
  }
  return { total, count };
});

test("a fold reads every result of the stage before, page by page", async () => {
  const shop = await openShop({ jobs: [squares({})], handlers: [square, sum] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("squares", {});
  const status = await shop.engine.wait(job_id);
  expect(status).toMatchObject({ status: "completed", result: { count: 2500, total: (2499 * 2500 * 4999) / 6 } });
});

test("a batched fold sees exactly its own ordinals, the last batch what is left", async () => {
  const seen = new Map<number, { ordinals: number[]; count: number; index: string | undefined }>();
  const part = defineHandler("sum", {}, async (_, ctx) => {
    const ordinals: number[] = [];
    let index: string | undefined;
    for await (const item of ctx.previous) {
      ordinals.push(item.ordinal);
      index ??= item.index;
    }
    seen.set(ctx.ordinal, { ordinals, count: ctx.previous.count, index });
  });
  const shop = await openShop({ jobs: [squares({ batch: 100 }, 250)], handlers: [square, part] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("squares", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  expect([...seen.keys()].sort()).toEqual([0, 1, 2]);
  expect(seen.get(1)).toEqual({ ordinals: Array.from({ length: 100 }, (_, n) => 100 + n), count: 100, index: "n-100" });
  expect(seen.get(2)).toMatchObject({ ordinals: Array.from({ length: 50 }, (_, n) => 200 + n), count: 50 });
});

test("one(), all() and results() read the same results", async () => {
  const found: Record<string, unknown> = {};
  const read = defineHandler("sum", {}, async (_, ctx) => {
    found.all = await ctx.previous.all();
    const pages: number[] = [];
    for await (const page of ctx.previous.results()) pages.push(page.length);
    found.pages = pages;
    found.one = await ctx.previous.one().catch((error: Error) => error.message);
  });
  const shop = await openShop({ jobs: [squares({}, 3)], handlers: [square, read] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("squares", {});
  await shop.engine.wait(job_id);
  expect(found.all).toEqual([
    { n: 0, square: 0 },
    { n: 1, square: 1 },
    { n: 2, square: 4 },
  ]);
  expect(found.pages).toEqual([3]);
  expect(found.one).toContain("more than one");
});

test("a stage after two others must say which one it reads", async () => {
  const messages: string[] = [];
  const join_both = defineHandler("sum", {}, async (_, ctx) => {
    const read = async (previous: AsyncIterable<unknown>) => {
      let count = 0;
      for await (const _item of previous) count++;
      return count;
    };
    messages.push(await read(ctx.previous).then(String, (error: Error) => error.message));
    messages.push(
      await Promise.resolve()
        .then(() => read(ctx.previous("elsewhere")))
        .then(String, (error: Error) => error.message),
    );
    return { left: await read(ctx.previous("left")), right: await read(ctx.previous("right")) };
  });
  const job = defineJob({
    type: "diamond",
    stages: [
      { name: "left", task: "square", after: [], tasks: { count: 2 } },
      { name: "right", task: "square", after: [], tasks: { count: 3 } },
      { name: "both", task: "sum", after: ["left", "right"] },
    ],
  });
  const shop = await openShop({ jobs: [job], handlers: [square, join_both] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("diamond", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", result: { left: 2, right: 3 } });
  expect(messages[0]).toContain('previous("left") or previous("right")');
  expect(messages[1]).toContain('"elsewhere"');
});

test("a matching task finds its predecessor and what it handed over", async () => {
  const hand = defineHandler("square", {}, (_, ctx) => {
    ctx.next_stage_params({ from: ctx.index });
    return { n: ctx.ordinal };
  });
  const reply = defineHandler("reply", {}, async (parameters, ctx) => {
    const before = await ctx.predecessor();
    return { parameters, before: before?.index, n: before?.result.n, own: ctx.index };
  });
  const job = defineJob({
    type: "pairs",
    stages: [
      { name: "ask", task: "square", tasks: { count: 3, index: "q{ordinal}" } },
      { name: "answer", task: "reply", parallelism: "match_previous" },
    ],
  });
  const shop = await openShop({ jobs: [job], handlers: [hand, reply] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("pairs", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  const results = await shop.db.sql<{ result: unknown }>`
    select r.result from app.results r join app.stages s using (stage_id) where s.name = 'answer' order by r.ordinal`;
  expect(results[2]!.result).toEqual({ parameters: { from: "q2" }, before: "q2", n: 2, own: "q2" });
});

const big = defineHandler("big", {}, () => ({ text: "é".repeat(700_000) }));
const measure = defineHandler("measure", {}, async (_, ctx) => ({ length: (await ctx.previous.one()).text.length }));
const spilling = defineJob({
  type: "spilling",
  stages: [
    { name: "make", task: "big" },
    { name: "read", task: "measure", max_attempts: 2 },
  ],
});

test("a large result goes to storage and is read back whole", async () => {
  const shop = await openShop({ jobs: [spilling], handlers: [big, measure] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("spilling", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", result: { length: 700_000 } });
  const [row] = await shop.db.sql<{ result: unknown; spill: { bytes: number } }>`
    select result, spill from app.results where spill is not null`;
  expect(row).toMatchObject({ result: null, spill: { bytes: 1_400_011 } });
});

test("the embedded database spills and reads back too", async () => {
  const shop = await openEmbeddedShop({ jobs: [spilling], handlers: [big, measure] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("spilling", {});
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", result: { length: 700_000 } });
});

for (const [what, harm] of [
  ["missing", (file: string) => rm(file)],
  ["altered", (file: string) => writeFile(file, "{}")],
] as const) {
  test(`a spilled result that is ${what} fails its reader at once, with the file's name`, async () => {
    const first = { handlers: [big, measure], jobs: [spilling] };
    const shop = await openShop(first);
    // Between the two stages: the reader's worker starts only when the file is harmed.
    const maker = await shop.worker({ types: ["big"] });
    const { job_id } = await shop.engine.submit("spilling", {});
    await eventually(() => maker.stats().completed === 1);
    await maker.idle();
    await maker.stop();
    const [row] = await shop.db.sql<{ key: string }>`select spill ->> 'key' as key from app.results`;
    await harm(join(shop.storage_dir, row!.key));
    await shop.worker();
    expect(await shop.engine.wait(job_id)).toMatchObject({ status: "failed" });
    const attempts = await shop.db.sql<{
      category: string;
      message: string;
    }>`select category, message from app.attempts`;
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({ category: "permanent", message: expect.stringContaining(row!.key) });
  });
}

test("reading results inside ctx.db is refused instead of waiting for itself", async () => {
  let message = "";
  const nested = defineHandler("sum", {}, async (_, ctx) => {
    await ctx.db(async () => {
      message = await ctx.previous.all().then(String, (error: Error) => error.message);
    });
  });
  const shop = await openShop({ jobs: [squares({}, 2)], handlers: [square, nested] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("squares", {});
  await shop.engine.wait(job_id);
  expect(message).toContain("ctx.db is open");
});
