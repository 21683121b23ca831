// Tasks over HTTP: enqueued once however often they are sent, listed page by page, moved, skipped and run again.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { type Answered, openService, type TestService } from "./service.js";

let service: TestService;

beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "tiles",
        stages: [
          {
            name: "cut",
            task: "t.cut",
            tasks: { count: 30, index: "tile-{ordinal}", parameters: { n: "{ordinal}" } },
            failure_budget: { count: 5 },
          },
          { name: "join", task: "t.join", parallelism: "fan_in" },
        ],
      }),
    ],
    handlers: [
      defineHandler("t.cut", {}, ({ n }) => {
        if (n % 10 === 3) throw new Permanent("cracked");
        return { n, text: "t".repeat(1000) };
      }),
      defineHandler("t.join", {}, () => ({ joined: true })),
      defineHandler("t.mail", { parameters: z.object({ to: z.string() }) }, () => null),
      defineHandler("t.broken", {}, () => {
        throw new Permanent("never works");
      }),
    ],
  });
  await service.worker({ types: ["t.cut", "t.join", "t.broken"] });
});
afterAll(() => service.close());

const post = (path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered> =>
  service.call("POST", path, { body, headers });
const get = async (path: string): Promise<Answered["body"]> => (await service.call("GET", path)).body;
async function all(path: string, limit: number): Promise<Answered["body"][]> {
  const found = [];
  for (let cursor = ""; ; ) {
    const { tasks, next } = await get(`${path}limit=${limit}${cursor}`);
    found.push(...tasks);
    if (next === null) return found;
    cursor = `&cursor=${next}`;
  }
}

describe("settings of retries", () => {
  const retry = { attempts: 7, base_s: 0.5, cap_s: 5, within_s: 60 };

  test("come with a lone task and with a submit, and are shown with both", async () => {
    const { body } = await post("/api/tasks/enqueue/t.mail", { parameters: { to: "eve" }, retry });
    const { attempts: max_attempts, ...waits } = retry;
    expect(await get(`/api/tasks/${body.task_ids[0]}`)).toMatchObject({ max_attempts, retry: waits });
    const { body: job } = await post("/api/jobs/submit/tiles", { parameters: { made: "patient" }, retry });
    const { stages } = await get(`/api/jobs/${job.job_id}`);
    for (const stage of stages) expect(stage).toMatchObject({ max_attempts, retry: waits });
  });

  test("that are wrong are refused, each with its place", async () => {
    const wrong = { retry: { attempts: 0, within_s: -1, more: 1 } };
    for (const path of ["/api/tasks/enqueue/t.mail", "/api/jobs/submit/tiles"]) {
      const { status, body } = await post(path, { parameters: { to: "eve" }, ...wrong });
      expect(status).toBe(400);
      const told = body.problems.map((problem: { path: string }) => problem.path);
      expect(told).toEqual(expect.arrayContaining(["body.retry.attempts", "body.retry.within_s"]));
    }
    const twice = await post("/api/tasks/enqueue/t.mail", { parameters: { to: "eve" }, max_attempts: 3, retry });
    expect(twice).toMatchObject({ status: 400, body: { problems: [{ problem: "another number than max_attempts" }] } });
  });
});

describe("enqueueing", () => {
  test("one task, with its key in the header or the body, is the same task", async () => {
    const body = { parameters: { to: "ada" } };
    const first = await post("/api/tasks/enqueue/t.mail", body, { "idempotency-key": "k-1" });
    expect(first).toMatchObject({ status: 201, body: { created: 1, task_ids: [expect.stringMatching(/^\d+-\d+$/)] } });
    const second = await post("/api/tasks/enqueue/t.mail", { ...body, idempotency_key: "k-1" });
    expect(second).toMatchObject({ status: 200, body: { created: 0, task_ids: first.body.task_ids } });
    const other = await post("/api/tasks/enqueue/t.mail", { parameters: { to: "eve" }, idempotency_key: "k-1" });
    expect(other).toMatchObject({ status: 409, body: { code: "conflict" } });
  });

  test("many at once, all or nothing, with every problem told", async () => {
    const items = Array.from({ length: 5000 }, (_, n) => ({ parameters: { to: `n${n}` } }));
    const { status, body } = await post("/api/tasks/enqueue/t.mail", { items });
    expect([status, body.created, new Set(body.task_ids).size]).toEqual([201, 5000, 5000]);
    const mixed = await post("/api/tasks/enqueue/t.mail", {
      items: [
        { parameters: { to: "a" }, delay_s: 60, priority: 3 },
        { parameters: { to: "b" }, run_at: "2030-01-01T00:00:00+02:00" },
      ],
    });
    expect(mixed.body.created).toBe(2);
    expect(await get(`/api/tasks/${mixed.body.task_ids[1]}`)).toMatchObject({
      run_at: expect.stringContaining("2029-12-31T22:00:00"),
      status: "queued",
    });
    const bad = await post("/api/tasks/enqueue/t.mail", { items: [{ parameters: { to: 1 } }], delay_s: 3 });
    expect(bad).toMatchObject({
      status: 400,
      body: { problems: [{ path: "body.delay_s", problem: "stands beside items" }] },
    });
    expect(await post("/api/tasks/enqueue/t.mail", { items: [{ parameters: { to: 1 } }] })).toMatchObject({
      status: 400,
      body: { code: "bad_parameters" },
    });
    expect(await post("/api/tasks/enqueue/t.mial", {})).toMatchObject({
      status: 404,
      body: { hint: 'Did you mean "t.mail"?' },
    });
  });
});

describe("lone tasks", () => {
  test("one is moved, cancelled and run again, and can be asked why it waits", async () => {
    const { body } = await post("/api/tasks/enqueue/t.mail", { parameters: { to: "x" } });
    const path = `/api/tasks/${body.task_ids[0]}`;
    const when = "2031-05-05T05:05:05Z";
    expect(await post(`${path}/reschedule`, { run_at: when, priority: 9, dry_run: true })).toMatchObject({
      body: { changed: false, priority: 9 },
    });
    expect((await get(path)).priority).toBe(0);
    expect(
      await post(`${path}/reschedule`, { run_at: when, priority: 9, actor: "ada", reason: "later" }),
    ).toMatchObject({ body: { changed: true } });
    expect(await get(path)).toMatchObject({ priority: 9, run_at: expect.stringContaining("2031-05-05T05:05:05") });
    expect(await get(`${path}/why`)).toMatchObject({
      id: body.task_ids[0],
      status: "queued",
      code: expect.any(String),
    });
    expect(await post(`${path}/cancel`, { dry_run: true })).toMatchObject({
      body: { status: "queued", changed: false },
    });
    expect(await post(`${path}/cancel`, { actor: "ada" })).toMatchObject({
      body: { status: "cancelled", changed: true },
    });
    expect(await post(`${path}/cancel`)).toMatchObject({ body: { status: "cancelled", changed: false } });
    expect(await post(`${path}/reschedule`, { run_at: when })).toMatchObject({
      status: 409,
      body: { code: "not_allowed_now" },
    });
    expect(await post(`${path}/retry`)).toMatchObject({ body: { status: "queued", again: 1 } });
    const [event] = await service.db
      .sql`select actor from app.events where kind = 'task.cancelled' order by event_id desc limit 1`;
    expect(event).toMatchObject({ actor: expect.stringMatching(/^key:.* \(ada\)$/) });
  });

  test("they are listed by type and status, page by page, each once", async () => {
    const listed = await all("/api/tasks?type=t.mail&", 1000);
    expect(listed.length).toBeGreaterThan(5000);
    expect(new Set(listed.map(({ task_id }) => task_id)).size).toBe(listed.length);
    const waiting = await all("/api/tasks?type=t.mail&status=queued&", 1000);
    expect(waiting.length).toBe(listed.length);
    expect(await all("/api/tasks?type=t.mail&status=completed&", 1000)).toEqual([]);
    expect((await get("/api/tasks?type=no.such")).tasks).toEqual([]);
  });
});

describe("tasks of a job", () => {
  test("they are listed over all stages with a cursor, by stage and by status, with results where asked for", async () => {
    const { body } = await post("/api/jobs/submit/tiles", {});
    const job_id = body.job_id;
    expect((await service.call("GET", `/api/jobs/status/${job_id}?wait=true`)).body.status).toBe("partial_success");
    const listed = await all(`/api/jobs/${job_id}/tasks?`, 7);
    expect(listed.map(({ stage, index }) => `${stage} ${index}`)).toEqual([
      ...Array.from({ length: 30 }, (_, n) => `cut tile-${n}`),
      "join 0",
    ]);
    expect((await all(`/api/jobs/${job_id}/tasks?stage=2&`, 7)).length).toBe(1);
    expect((await all(`/api/jobs/${job_id}/tasks?status=failed&`, 2)).map(({ index }) => index)).toEqual([
      "tile-3",
      "tile-13",
      "tile-23",
    ]);
    expect((await all(`/api/jobs/${job_id}/tasks?status=completed&stage=cut&`, 4)).length).toBe(27);
    const results = await get(`/api/dbadmin/tasks/${job_id}?stage=1&limit=5`);
    expect(results.tasks[0]).toMatchObject({ parameters: { n: 0 }, result: { n: 0 } });
    expect(await service.call("GET", `/api/jobs/${job_id}/tasks?stage=nothing`)).toMatchObject({ status: 404 });
    expect(await get(`/api/tasks/${listed[3].task_id}`)).toMatchObject({
      status: "failed",
      attempts: [{ message: "cracked" }],
    });
  });

  test("a page with results ends early where it would be too large", async () => {
    const { body } = await post("/api/jobs/submit/tiles?resume=true", { parameters: { second: true } });
    await service.call("GET", `/api/jobs/status/${body.job_id}?wait=true`);
    await service.db.sql`
      update app.results set result = to_jsonb(repeat('z', 900000))
       where stage_id in (select stage_id from app.stages where job_id = ${body.job_id}) and status = 'completed' and ordinal < 9`;
    const { tasks, next } = await get(`/api/dbadmin/tasks/${body.job_id}?limit=1000`);
    expect([tasks.length < 10, next === null]).toEqual([true, false]);
    expect(new Set((await all(`/api/dbadmin/tasks/${body.job_id}?`, 1000)).map(({ task_id }) => task_id)).size).toBe(
      31,
    );
  });

  test("a failed task is skipped for a reason, or run again in its job", async () => {
    const { body } = await post("/api/tasks/enqueue/t.broken", {});
    const path = `/api/tasks/${body.task_ids[0]}`;
    await expect.poll(async () => (await get(path)).status).toBe("failed");
    expect(await post(`${path}/skip`, { reason: "  " })).toMatchObject({ status: 400 });
    expect(await post(`${path}/skip`, { reason: "not needed" })).toMatchObject({
      body: { status: "skipped", changed: true },
    });
    expect(await get(path)).toMatchObject({ status: "skipped", error: { by: expect.stringMatching(/^key:/) } });
  });
});
