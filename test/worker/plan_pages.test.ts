import { expect, test } from "vitest";
import { ContractViolation } from "../../src/core/errors/errors.js";
import { PAGE_BYTES, PAGE_TASKS, PARAMETER_BYTES, PlanPages } from "../../src/worker/plan/plan_pages.js";

async function plan(
  tasks: Iterable<unknown>,
): Promise<{ pages: PlanPages; sent: { from: number; tasks: unknown[] }[] }> {
  const sent: { from: number; tasks: unknown[] }[] = [];
  const pages = new PlanPages("tiles", async (from, text) => {
    sent.push({ from, tasks: JSON.parse(text) });
  });
  for (const task of tasks) await pages.add(task);
  await pages.flush();
  return { pages, sent };
}

async function refusal(...tasks: unknown[]): Promise<string> {
  const error = await plan(tasks).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ContractViolation);
  return (error as Error).message;
}

test("a plan of many tasks is sent in pages that follow each other without a gap", async () => {
  const { pages, sent } = await plan(Array.from({ length: 12_000 }, (_, n) => ({ index: `t${n}`, parameters: { n } })));
  expect(sent.map((page) => [page.from, page.tasks.length])).toEqual([
    [0, PAGE_TASKS],
    [5000, PAGE_TASKS],
    [10_000, 2000],
  ]);
  expect(sent[1]!.tasks[0]).toEqual({ i: "t5000", p: { n: 5000 } });
  expect(pages.total).toBe(12_000);
});

test("a page is full when it has four megabytes", async () => {
  const text = "x".repeat(100_000);
  const { sent } = await plan(Array.from({ length: 100 }, (_, n) => ({ parameters: { n, text } })));
  expect(sent.length).toBeGreaterThan(2);
  for (const page of sent) expect(JSON.stringify(page.tasks).length).toBeLessThan(PAGE_BYTES + 200_000);
});

test("an empty plan still sends one page, which wipes what a dead planner left", async () => {
  expect((await plan([])).sent).toEqual([{ from: 0, tasks: [] }]);
});

test("parameters over the limit are refused with index, size and limit", async () => {
  const fits = { text: "x".repeat(PARAMETER_BYTES - '{"text":""}'.length) };
  const { pages } = await plan([{ index: "fits", parameters: fits }]);
  expect(pages.task_bytes).toBe(PARAMETER_BYTES);
  const message = await refusal({ index: "tile-7", parameters: { text: `${fits.text}x` } });
  expect(message).toContain('"tile-7"');
  expect(message).toContain("262145 bytes; the limit is 262144");
});

test("the limit counts bytes, not characters", async () => {
  expect(await refusal({ index: "é", parameters: { text: "é".repeat(PARAMETER_BYTES / 2) } })).toContain("bytes");
});

test("two tasks with the same index are refused, also when one of them is only a number", async () => {
  expect(await refusal({ index: "a" }, { index: "a" })).toContain("$.index");
  expect(await refusal({}, { index: "0" })).toContain("$.index");
});

test("what JSON or the table cannot hold is refused with its path", async () => {
  expect(await refusal({ parameters: { a: [1, Number.NaN] } })).toContain("$.parameters.a[1]");
  expect(await refusal({ parameters: { a: "\0" } })).toContain("$.parameters.a");
  expect(await refusal({ metadata: { a: "\ud800" } })).toContain("$.metadata.a");
  expect(await refusal({ index: "" })).toContain("$.index");
  expect(await refusal({ index: "x".repeat(201) })).toContain("$.index");
  expect(await refusal({ index: "a\nb" })).toContain("$.index");
  expect(await refusal({ parent: 5 })).toContain("$.parent");
  expect(await refusal({ bbox: [1, 2, 3] })).toContain("$.bbox");
  expect(await refusal({ parameter: {} })).toContain("$.parameter");
  expect(await refusal({ parameters: [1] })).toContain("$.parameters");
  expect(await refusal("tile")).toContain("string");
});
