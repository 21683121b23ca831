// The client beside a real service: what it sends is understood, and what comes back is what its types say.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  BadRequest,
  type Client,
  createClient,
  defineHandler,
  defineJob,
  Forbidden,
  NotAllowedNow,
  NotFound,
  ParameterError,
  StillRunning,
  Unauthenticated,
  ValueProblems,
} from "../../src/client/index.js";
import { openService, type TestService } from "../server/service.js";

const double = defineJob({
  type: "double",
  parameters: z.object({ numbers: z.array(z.int()), note: z.string().default("") }),
  stages: [
    {
      name: "each",
      task: "n.double",
      tasks: { each: "$.numbers[*]", index: "n-{ordinal}", parameters: { n: "{item}" } },
    },
    { name: "sum", task: "n.sum", parallelism: "fan_in" },
  ],
});
const lasting = defineJob({
  type: "lasting",
  parameters: z.object({ n: z.int() }),
  stages: [{ name: "wait", task: "n.nobody" }],
});

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await openService({
    jobs: [double, lasting],
    handlers: [
      defineHandler("n.double", {}, ({ n }) => ({ n: n * 2 })),
      defineHandler("n.sum", {}, async (_, { previous }) => {
        let sum = 0;
        for await (const { result } of previous) sum += result.n;
        return { sum };
      }),
      defineHandler("n.nobody", {}, () => ({})),
    ],
  });
  client = createClient({ url: service.url, key: await service.key() });
  await service.worker({ types: ["n.double", "n.sum"] });
});
afterAll(() => service.close());

test("a job is submitted, waited for and read", async () => {
  const { job_id, created } = await client.submit(
    double,
    { numbers: [1, 2, 3] },
    { labels: { from: "sdk" }, priority: 3 },
  );
  expect(created).toBe(true);
  const ended = await client.wait(job_id);
  expect(ended).toMatchObject({
    job_id,
    status: "completed",
    result: { sum: 12 },
    labels: { from: "sdk" },
    priority: 3,
  });
  expect(await client.result(job_id)).toEqual({ sum: 12 });
  expect(await client.status(job_id.slice(0, 12))).toMatchObject({ job_id });
  expect(await client.submit(double, { numbers: [1, 2, 3] })).toMatchObject({ job_id, created: false });
  expect(await client.submit(double, { numbers: [1, 2, 3] }, { mode: "force" })).toMatchObject({
    created: true,
    run: 2,
  });
});

test("whoever waits is told of the way there", async () => {
  const { job_id } = await client.submit("double", { numbers: [5] });
  const seen: string[] = [];
  const { status } = await client.wait(job_id, { on_status: (job) => seen.push(job.status) });
  expect([status, seen.at(-1)]).toEqual(["completed", "completed"]);
});

test("waiting ends when the time is over or the caller gives up, and the job goes on", async () => {
  const { job_id } = await client.submit(lasting, { n: 1 });
  const late = await client.wait(job_id, { timeout_ms: 50 }).catch((error) => error);
  expect(late).toBeInstanceOf(StillRunning);
  const polled = await client.wait(job_id, { timeout_ms: 300, on_status: () => {} }).catch((error) => error);
  expect(polled).toMatchObject({ code: "still_running", job: { job_id, status: "queued" } });
  const reason = new Error("enough");
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 20);
  await expect(client.wait(job_id, { signal: controller.signal })).rejects.toBe(reason);
  await expect(client.result(job_id)).rejects.toBeInstanceOf(NotAllowedNow);
});

test("a verb without what it is about is refused before it is sent", async () => {
  await expect(client.pauseType(undefined as never)).rejects.toThrow("pauseType needs a task_type");
  await expect(client.cancel(null as never)).rejects.toThrow("cancel needs a job_id");
});

test("refusals are the classes the engine throws, with all problems", async () => {
  const wrong = await client.submit(double, { numbers: ["a"], extra: 1 } as never).catch((error) => error);
  expect(wrong).toBeInstanceOf(ParameterError);
  expect(wrong.problems.map((one: { path: string }) => one.path)).toEqual(
    expect.arrayContaining(["$.numbers[0]", "$.extra"]),
  );
  expect(wrong.request_id).toMatch(/^[0-9a-f-]{36}$/);
  await expect(client.submit("nothing", {})).rejects.toBeInstanceOf(NotFound);
  await expect(client.status("f".repeat(64))).rejects.toBeInstanceOf(NotFound);
  await expect(client.status("no id")).rejects.toBeInstanceOf(BadRequest);
  await expect(client.submit("double", { numbers: [Number.NaN] })).rejects.toBeInstanceOf(ValueProblems);
  const stranger = createClient({ url: service.url, key: "ff_test_abcdefghijkm_x" });
  await expect(stranger.status("abcd")).rejects.toBeInstanceOf(Unauthenticated);
  const reader = createClient({ url: service.url, key: await service.key("default", ["read"]) });
  await expect(reader.submit("double", { numbers: [] })).rejects.toBeInstanceOf(Forbidden);
});

test("many jobs go in batches, a few at a time, and the answers are in order", async () => {
  const numbers = Array.from({ length: 25 }, (_, n) => n);
  const told: number[] = [];
  const replies = await client.submitMany(
    lasting,
    numbers.map((n) => ({ parameters: { n: 1000 + n }, labels: { n: String(n) } })),
    { batch_size: 4, concurrency: 3, on_batch: (_, from) => told.push(from) },
  );
  expect(replies.length).toBe(25);
  expect(told.sort((a, b) => a - b)).toEqual([0, 4, 8, 12, 16, 20, 24]);
  const [third, last] = [await client.status(replies[3]!.job_id), await client.status(replies[24]!.job_id)];
  expect([third.parameters, last.parameters]).toEqual([{ n: 1003 }, { n: 1024 }]);
  const again = await client.submitMany(lasting, asyncly(numbers.map((n) => ({ parameters: { n: 1000 + n } }))));
  expect(again.map(({ job_id, created }) => [job_id, created])).toEqual(replies.map(({ job_id }) => [job_id, false]));
});

async function* asyncly<T>(items: T[]) {
  yield* items;
}

test("a batch that is refused says which items it is about, and nothing more is sent", async () => {
  const items = Array.from({ length: 30 }, (_, n) => ({ parameters: { n: n === 13 ? ("x" as never) : 2000 + n } }));
  const sent: number[] = [];
  const refused = await client
    .submitMany(lasting, items, { batch_size: 5, concurrency: 1, on_batch: (_, from) => sent.push(from) })
    .catch((error) => error);
  expect(refused).toBeInstanceOf(ParameterError);
  expect(refused.batch).toEqual({ from: 10, to: 15 });
  expect(sent).toEqual([0, 5]);
  const unsendable = await client
    .submitMany(lasting, [{ parameters: { n: Number.POSITIVE_INFINITY } }])
    .catch((e) => e);
  expect(unsendable.message).toContain("Item 0 cannot be sent");
});

test("lists are read page by page, as far as they are wanted", async () => {
  const all = await client.jobs({ type: "lasting", limit: 7 }).all();
  expect(all.length).toBeGreaterThan(25);
  expect(new Set(all.map(({ job_id }) => job_id)).size).toBe(all.length);
  const sizes: number[] = [];
  for await (const page of client.jobs({ type: "lasting", limit: 10 }).pages()) sizes.push(page.length);
  expect(sizes.slice(0, 2)).toEqual([10, 10]);
  expect((await client.jobs({ status: "queued" }).all(3)).length).toBe(3);
  expect(await client.jobs({ label: "n:7" }).all()).toMatchObject([{ labels: { n: "7" } }]);
});
