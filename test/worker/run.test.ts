import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Throttled, Transient } from "../../src/core/errors/errors.js";
import { orAborted } from "../../src/worker/wait.js";
import { attemptsOf, eventually, gate, openEmbeddedShop, openShop } from "./shop.js";

const echo = defineHandler("echo", {}, (parameters) => parameters);

const fan = (task: string, extra: object = {}) =>
  defineJob({
    type: "fan",
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "only", task, tasks: { count: "{parameters.n}", index: "t{ordinal}" }, ...extra }],
  });

test("a worker runs a job's tasks and stores their results", async () => {
  const shop = await openShop({ jobs: [fan("echo")], handlers: [echo] });
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 50 });
  const status = await shop.engine.wait(job_id);
  expect(status).toMatchObject({ status: "completed", stages: [{ total: 50, completed: 50 }] });
  expect(worker.stats()).toMatchObject({ completed: 50, failed: 0, refused: 0 });
});

test("the embedded database runs the same job", async () => {
  const shop = await openEmbeddedShop({ jobs: [fan("echo")], handlers: [echo] });
  const worker = await shop.worker({ lease_s: 5 });
  const { job_id } = await shop.engine.submit("fan", { n: 300 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 300 }] });
  await worker.stop();
});

test("a lone task that comes while the worker is idle starts at once", async () => {
  const shop = await openShop({ handlers: [echo] });
  // A poll would come after a minute: only the hint can be in time.
  const worker = await shop.worker({ poll_s: 60 });
  await worker.idle();
  const { task_id } = await shop.engine.enqueue("echo", { a: 1 });
  await eventually(async () => (await shop.engine.task(task_id)).status === "completed");
  await worker.idle();
});

test("a task that retries later is found by polling", async () => {
  let tries = 0;
  const flaky = defineHandler("flaky", {}, () => {
    if (++tries < 3) throw new Transient("not yet");
    return { tries };
  });
  const shop = await openShop({ handlers: [flaky] });
  await shop.worker({ poll_s: 0.05 });
  const { task_id } = await shop.engine.enqueue("flaky", {}, { max_attempts: 3 });
  await eventually(async () => (await shop.engine.task(task_id)).status === "completed");
  const attempts = await attemptsOf(shop.db);
  expect(attempts.map(({ attempt, outcome, code }) => [attempt, outcome, code])).toEqual([
    [1, "failed", "transient"],
    [2, "failed", "transient"],
  ]);
});

test("a permanent error is not tried again", async () => {
  const wrong = defineHandler("wrong", {}, () => Promise.reject(new Permanent("no such band", { code: "bad_band" })));
  const shop = await openShop({ handlers: [wrong] });
  const worker = await shop.worker();
  const { task_id } = await shop.engine.enqueue("wrong", {}, { max_attempts: 5 });
  await eventually(async () => (await shop.engine.task(task_id)).status === "failed");
  await worker.idle();
  const attempts = await attemptsOf(shop.db);
  expect(attempts).toMatchObject([{ attempt: 1, outcome: "failed", code: "bad_band" }]);
});

test("an unknown error is tried again until the attempts are spent", async () => {
  const odd = defineHandler("odd", {}, () => {
    throw undefined;
  });
  const shop = await openShop({ handlers: [odd] });
  await shop.worker({ poll_s: 0.05 });
  const { task_id } = await shop.engine.enqueue("odd", {}, { max_attempts: 2 });
  await eventually(async () => (await shop.engine.task(task_id)).status === "failed");
  expect((await attemptsOf(shop.db)).map((row) => row.attempt)).toEqual([1, 2]);
});

test("being throttled spends no attempt", async () => {
  let tries = 0;
  const busy = defineHandler("busy", {}, () => {
    if (++tries <= 4) throw new Throttled(0.01);
    return "in";
  });
  const shop = await openShop({ handlers: [busy] });
  await shop.worker({ poll_s: 0.05 });
  const { task_id } = await shop.engine.enqueue("busy", {}, { max_attempts: 1 });
  await eventually(async () => (await shop.engine.task(task_id)).status === "completed");
  expect((await attemptsOf(shop.db)).map((row) => row.attempt)).toEqual([1, 1, 1, 1]);
});

test("a result that cannot be stored fails its task for good and leaves its neighbours alone", async () => {
  const odd = defineHandler("odd", {}, (_, ctx) => {
    if (ctx.ordinal === 3) return { deep: { value: Number.NaN } };
    if (ctx.ordinal === 5) return "nul \0";
    return ctx.ordinal;
  });
  const shop = await openShop({ jobs: [fan("odd", { failure_budget: { count: 2 } })], handlers: [odd] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 20 });
  const status = await shop.engine.wait(job_id);
  expect(status).toMatchObject({ status: "partial_success", stages: [{ completed: 18, failed: 2 }] });
  const attempts = await shop.db.sql<{ ordinal: number; category: string; message: string }>`
    select ordinal, category, message from app.attempts order by ordinal`;
  expect(attempts).toMatchObject([
    { ordinal: 3, category: "contract", message: expect.stringContaining("$.deep.value") },
    { ordinal: 5, category: "contract", message: expect.stringContaining("NUL") },
  ]);
});

test("a result the database refuses in the end fails alone", async () => {
  // Numbers jsonb cannot hold pass every check made here; only the database knows.
  const sly = defineHandler("sly", {}, (_, ctx) => (ctx.ordinal === 7 ? { toJSON: () => "ok" } : 1));
  const shop = await openShop({ jobs: [fan("sly", { failure_budget: { count: 1 } })], handlers: [sly] });
  await shop.db.script(`
    alter table app.results add constraint no_sevens check (result is distinct from '"ok"');`);
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 30 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ stages: [{ completed: 29, failed: 1 }] });
  expect(await attemptsOf(shop.db)).toMatchObject([{ ordinal: 7, code: "unstorable_result" }]);
});

test("parameters that do not fit the handler's schema fail the task with every problem", async () => {
  const strict = defineHandler("strict", { parameters: z.object({ x: z.int(), y: z.string() }) }, () => 1);
  const shop = await openShop({ jobs: [fan("strict")], handlers: [strict] });
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await shop.engine.wait(job_id);
  const [attempt] = await shop.db.sql<{
    category: string;
    message: string;
  }>`select category, message from app.attempts`;
  expect(attempt).toMatchObject({ category: "contract" });
  expect(attempt!.message).toContain("$.x");
  expect(attempt!.message).toContain("$.y");
});

test("a time-out aborts through ctx.signal and counts as a transient failure", async () => {
  const reasons: unknown[] = [];
  const slow = defineHandler("slow", {}, (_, ctx) => {
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => {
        reasons.push(ctx.signal.reason);
        reject(ctx.signal.reason);
      });
    });
  });
  const shop = await openShop({ jobs: [fan("slow", { timeout_s: 1, max_attempts: 1 })], handlers: [slow] });
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 2 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "failed" });
  expect(reasons).toHaveLength(2);
  expect(reasons[0]).toMatchObject({ name: "TimeoutError" });
  expect(await attemptsOf(shop.db)).toMatchObject([{ code: "timeout" }, { code: "timeout" }]);
  expect(worker.stats().timed_out).toBe(2);
});

test("a handler that ignores its time-out gives up its slot, and its late result is dropped", async () => {
  const { passed, open } = gate();
  const deaf = defineHandler("deaf", {}, (_, ctx) => (ctx.ordinal === 0 ? passed : "done"));
  const job = fan("deaf", { timeout_s: 1, max_attempts: 1, failure_budget: { count: 1 } });
  const shop = await openShop({ jobs: [job], handlers: [deaf] });
  const worker = await shop.worker({ slots: 1, abort_grace_s: 0.1 });
  const { job_id } = await shop.engine.submit("fan", { n: 3 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ stages: [{ completed: 2, failed: 1 }] });
  open();
  await eventually(() => worker.stats().late === 1);
  await worker.idle();
  expect(worker.stats()).toMatchObject({ completed: 2, refused: 0 });
});

test("a lone task has the time-out of its handler", async () => {
  const slow = defineHandler("slow", { timeout_s: 1 }, (_, ctx) => orAborted(new Promise(() => {}), ctx.signal));
  const shop = await openShop({ handlers: [slow] });
  await shop.worker();
  const { task_id } = await shop.engine.enqueue("slow", {}, { max_attempts: 1 });
  await eventually(async () => (await shop.engine.task(task_id)).status === "failed");
  expect(await attemptsOf(shop.db)).toMatchObject([{ code: "timeout" }]);
});
