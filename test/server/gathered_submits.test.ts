// Submits that travel together: each must get the answer it would have had alone.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { OverLimit } from "../../src/core/errors/errors.js";
import { GatheredSubmits } from "../../src/server/jobs/gathered_submits.js";
import { openService, type TestService } from "./service.js";

const numbered = defineJob({
  type: "numbered",
  parameters: z.strictObject({ n: z.int() }),
  stages: [{ name: "only", task: "no.thing" }],
});

let service: TestService;
beforeAll(async () => {
  service = await openService({ handlers: [defineHandler("no.thing", {}, () => null)], jobs: [numbered] });
});
afterAll(() => service.close());
afterEach(() => vi.restoreAllMocks());

const submit = (n: unknown, more: object = {}, key?: string) =>
  service.call("POST", "/api/jobs/submit/numbered", { body: { parameters: { n }, ...more }, key });

test("many at once become few calls to the database, and each caller hears of its own job", async () => {
  const submits = new GatheredSubmits();
  const many = vi.spyOn(service.engine, "submitMany");
  const numbers = Array.from({ length: 150 }, (_, n) => n);
  const replies = await Promise.all(numbers.map((n) => submits.submit(service.engine, "numbered", { n }, {})));
  expect(many.mock.calls.length).toBeLessThan(10);
  many.mockRestore();
  for (const [n, { job_id, created }] of replies.entries()) {
    expect(created).toBe(true);
    const [job] = await service.db.sql<{ n: number }>`
      select (parameters ->> 'n')::int as n from app.jobs where job_id = ${job_id}`;
    expect(job).toEqual({ n });
  }
});

test("large ones travel alone, so that reading and writing them keeps nobody else waiting", async () => {
  const submits = new GatheredSubmits();
  const many = vi.spyOn(service.engine, "submitMany");
  const numbers = Array.from({ length: 9 }, (_, n) => 900 + n);
  const call = { is_small: false, bytes: 200_000, enter: () => {} };
  await Promise.all(numbers.map((n) => submits.submit(service.engine, "numbered", { n }, {}, call)));
  expect(many.mock.calls.map(([, items]) => [...items].length)).toEqual(numbers.map(() => 1));
});

test("what is wrong with one is told to its caller alone", async () => {
  const answers = await Promise.all([1001, 1002, "three", 1004, 1005].map((n) => submit(n)));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 400, 201, 201]);
  expect(answers[2]!.body.problems[0].path).toContain("n");
});

test("the same job submitted by many at once is made by one of them", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit(2000, { priority: 1 })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(answers.map(({ body }) => body.job_id)).size).toBe(1);
});

test("one without a place is answered with what it shares, and sent away where it shares nothing", async () => {
  const submits = new GatheredSubmits();
  const full = {
    is_small: true,
    enter: () => {
      throw new OverLimit("full");
    },
  };
  const free = { is_small: true, enter: () => {} };
  const ask = (n: number, options: object, call: { is_small: boolean; enter(): void }) =>
    submits.submit(service.engine, "numbered", { n }, options, call);
  const first = ask(2002, {}, free);
  const joined = ask(2002, { actor: "another" }, full);
  expect(() => ask(2002, { priority: 3 }, full)).toThrow(OverLimit);
  expect([(await first).created, (await joined).created]).toEqual([true, false]);
  // It was being read while the others were answered.
  expect((await ask(2002, {}, full)).created).toBe(false);
  // Whoever has a place is told how the job stands now.
  await service.db
    .sql`update app.jobs set status = 'cancelled', finished_at = now() where job_id = ${(await first).job_id}`;
  expect((await ask(2002, {}, free)).status).toBe("cancelled");
});

test("tenants do not travel together", async () => {
  const other = await service.key("other");
  const answers = await Promise.all([submit(3000), submit(3000, {}, other), submit(3000, {}, other)]);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(answers[0]!.body.job_id).not.toBe(answers[1]!.body.job_id);
});

test("each keeps its own trace, label and correlation", async () => {
  const trace = (n: number) => `00-${String(n).padStart(32, "a")}-b7ad6b7169203331-01`;
  const numbers = [4001, 4002, 4003, 4004, 4005];
  const send = (n: number) =>
    service.call("POST", "/api/jobs/submit/numbered", {
      body: { parameters: { n }, correlation_id: `c${n}`, labels: { n: String(n) } },
      headers: { traceparent: trace(n) },
    });
  await Promise.all(numbers.map(send));
  const rows = await service.db.sql`
    select (parameters ->> 'n')::int as n, traceparent, correlation_id, labels ->> 'n' as label
      from app.jobs where (parameters ->> 'n')::int between 4001 and 4005 order by 1`;
  expect(rows).toEqual(numbers.map((n) => ({ n, traceparent: trace(n), correlation_id: `c${n}`, label: String(n) })));
});

test("a new run is always a call of its own", async () => {
  const { engine } = service;
  const submits = new GatheredSubmits();
  const one = vi.spyOn(engine, "submit");
  const replies = await Promise.all(
    [1, 2, 3].map(() => submits.submit(engine, "numbered", { n: 5000 }, { mode: "force" })),
  );
  expect(one).toHaveBeenCalledTimes(3);
  expect(replies.every(({ job_id }) => job_id.length === 64)).toBe(true);
});

test("at a limit the first that are still within it are taken, and those behind are refused without asking each", async () => {
  const { engine } = service;
  const submits = new GatheredSubmits();
  const refusal = new OverLimit("too many submits", {
    retry_after_s: 1,
    problems: [{ path: "limits.submits_per_s", problem: "none is left", fix: "come back later" }],
  });
  vi.spyOn(engine, "submitMany").mockRejectedValue(refusal);
  const one = vi
    .spyOn(engine, "submit")
    .mockResolvedValueOnce({ job_id: "first" } as never)
    .mockRejectedValue(refusal);
  const sent = [1, 2, 3, 4, 5, 6].map((n) => submits.submit(engine, "numbered", { n: 6000 + n }, {}));
  const ends = await Promise.allSettled(sent);
  expect(ends.map(({ status }) => status)).toEqual([
    "rejected",
    "rejected",
    "fulfilled",
    "rejected",
    "rejected",
    "rejected",
  ]);
  expect(one).toHaveBeenCalledTimes(2);
});

test("one that would queue too much is refused, and those behind it that queue nothing are answered", async () => {
  const key = await service.key("full");
  for (const n of [1, 2]) expect((await submit(n, {}, key)).status).toBe(201);
  const limits = JSON.stringify({ tenant: "full", limits: { queued_tasks: 2 } });
  await service.db.sql`select app.change_limits(${limits}::text::json)`;
  const submits = new GatheredSubmits();
  const engine = service.engine.forTenant("full");
  const sent = [1, 1, 50, 2, 51, 1].map((n) => submits.submit(engine, "numbered", { n }, {}));
  const ends = await Promise.allSettled(sent);
  expect(ends.map((end) => (end.status === "rejected" ? end.reason.code : "answered"))).toEqual([
    "answered",
    "answered",
    "over_limit",
    "answered",
    "over_limit",
    "answered",
  ]);
});

test("those whose turn does not come are all told so", async () => {
  const submits = new GatheredSubmits(() => Promise.reject(new OverLimit("too many")));
  const told = await Promise.allSettled(
    [1, 2, 3, 4].map((n) => submits.submit(service.engine, "numbered", { n: 9000 + n }, {})),
  );
  expect(told).toEqual(told.map(() => ({ status: "rejected", reason: expect.any(OverLimit) })));
});
