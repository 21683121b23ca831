// What an operator does over HTTP: each verb can be tried without effect, says who asked and why, and is told what to do next.
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { type Answered, openService, type TestService } from "./service.js";

let service: TestService;
let count = 0;

beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "mixed",
        stages: [
          { name: "first", task: "t.ok" },
          { name: "second", task: "t.fail" },
        ],
      }),
      defineJob({ type: "gated", stages: [{ name: "ask", task: "t.ok", gate: "Really?" }] }),
      defineJob({ type: "never", stages: [{ name: "wait", task: "t.never" }] }),
    ],
    handlers: [
      defineHandler("t.ok", {}, () => ({ ok: true })),
      defineHandler("t.fail", {}, () => {
        throw new Permanent("no such tile 42", { code: "broken" });
      }),
      defineHandler("t.never", {}, () => null),
    ],
  });
  await service.worker({ types: ["t.ok", "t.fail"] });
});
afterAll(() => service.close());

async function job(type: string): Promise<string> {
  const { body } = await service.call("POST", `/api/jobs/submit/${type}`, { body: { n: ++count } });
  return body.job_id;
}
const ended = (job_id: string): Promise<Answered> => service.call("GET", `/api/jobs/status/${job_id}?wait=true`);
const post = (path: string, body?: unknown): Promise<Answered> => service.call("POST", path, { body });
const get = async (path: string): Promise<Answered["body"]> => (await service.call("GET", path)).body;

test("a verb tried first changes nothing; done, it is in the story with the key, the person and the reason", async () => {
  const job_id = await job("never");
  const dry = await post(`/api/jobs/${job_id}/pause`, { dry_run: true });
  expect(dry).toMatchObject({ status: 200, body: { dry_run: true, changed: false, queued: 1 } });
  expect((await get(`/api/jobs/status/${job_id}`)).paused_at).toBeNull();
  expect(await post(`/api/jobs/${job_id}/pause`, { reason: "the store is full", actor: "ada" })).toMatchObject({
    status: 200,
    body: { paused: true, changed: true },
  });
  const paused = await get(`/api/jobs/status/${job_id}`);
  expect(paused.paused_by).toMatch(/^key:[a-z0-9]{12} \(ada\)$/);
  expect(paused.hint).toContain(`POST /api/jobs/${job_id.slice(0, 12)}/continue`);
  expect(await get(`/api/jobs/${job_id}/why`)).toMatchObject({
    code: "JOB_PAUSED",
    call: expect.stringContaining("POST /api/jobs/"),
  });
  expect(await post(`/api/jobs/${job_id}/continue`)).toMatchObject({
    status: 200,
    body: { paused: false, changed: true },
  });
  expect(await post(`/api/jobs/${job_id}/resume`)).toMatchObject({ status: 409, body: { code: "conflict" } });
  expect(await post(`/api/jobs/${job_id}/cancel`, { reason: "enough" })).toMatchObject({
    body: { status: "cancelled", queued: 1 },
  });
  const { events } = await get(`/api/jobs/${job_id}/events`);
  expect(events.map((one: { kind: string }) => one.kind)).toEqual([
    "job.submitted",
    "job.paused",
    "job.continued",
    "job.cancelled",
  ]);
  expect(events[1]).toMatchObject({ actor: expect.stringMatching(/^key:.*\(ada\)$/), reason: "the store is full" });
});

test("events come in pages, each once", async () => {
  const job_id = await job("never");
  for (let round = 0; round < 3; round++) {
    await post(`/api/jobs/${job_id}/pause`);
    await post(`/api/jobs/${job_id}/continue`);
  }
  const seen: number[] = [];
  for (let cursor = ""; ; ) {
    const { events, next } = await get(`/api/jobs/${job_id}/events?limit=3${cursor}`);
    seen.push(...events.map((one: { event_id: number }) => one.event_id));
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  expect(seen.length).toBe(7);
  expect([...new Set(seen)].sort((a, b) => a - b)).toEqual(seen);
});

test("what failed is grouped, and a group, a stage or all of it runs again", async () => {
  const job_id = await job("mixed");
  expect((await ended(job_id)).body.status).toBe("failed");
  const { groups } = await get(`/api/jobs/${job_id}/errors`);
  expect(groups).toMatchObject([
    { tasks: 1, code: "broken", stages: ["second"], retry: expect.stringContaining("/retry-group") },
  ]);
  const { signature } = groups[0];
  expect(await post(`/api/jobs/${job_id}/retry-group`, { signature, dry_run: true })).toMatchObject({
    body: { again: 1, changed: false },
  });
  expect(await post(`/api/jobs/${job_id}/retry-group`, { signature })).toMatchObject({
    body: { again: 1, changed: true, epoch: 2 },
  });
  expect((await ended(job_id)).body.status).toBe("failed");
  expect(await post(`/api/jobs/retry-stage/${job_id}/second`)).toMatchObject({ body: { from_stage: 2, epoch: 3 } });
  await ended(job_id);
  expect(await post(`/api/jobs/${job_id}/resume`, { reason: "once more" })).toMatchObject({
    body: { epoch: 4, kept: expect.any(Number) },
  });
  await ended(job_id);
  expect(await get(`/api/jobs/${job_id}/verify`)).toMatchObject({ ok: true, problems: [] });
  expect(await get(`/api/jobs/${job_id}/why`)).toMatchObject({
    status: "failed",
    call: expect.stringMatching(/^(POST|GET) \/api\//),
  });
  expect(await post(`/api/jobs/retry-stage/${job_id}/third`)).toMatchObject({
    status: 404,
    body: { hint: expect.stringContaining("2 second") },
  });
});

test("a gate is approved or rejected by whoever says so, and a rejection needs a reason", async () => {
  const first = await job("gated");
  expect((await get(`/api/jobs/status/${first}`)).hint).toContain("/approve");
  expect(await post(`/api/jobs/${first}/approve`, { actor: "grace", reason: "looks right" })).toMatchObject({
    body: { stage: "ask", decision: { approved: true, by: expect.stringContaining("(grace)"), why: "looks right" } },
  });
  expect((await ended(first)).body.status).toBe("completed");
  const second = await job("gated");
  expect(await post(`/api/jobs/${second}/reject`, {})).toMatchObject({
    status: 400,
    body: { problems: [{ path: "body.reason", problem: "is missing" }] },
  });
  expect(await post(`/api/jobs/${second}/reject`, { reason: "too large" })).toMatchObject({ body: { changed: true } });
  expect((await ended(second)).body).toMatchObject({ status: "failed", error: { code: "rejected" } });
  expect(await post(`/api/jobs/${second}/approve`)).toMatchObject({ status: 409 });
});

test("a paused task type holds its tasks back until it is continued", async () => {
  expect(await post("/api/task-types/t.never/pause", { reason: "maintenance" })).toMatchObject({
    body: { paused: true, changed: true },
  });
  expect(await post("/api/task-types/t.never/pause")).toMatchObject({ body: { paused: true, changed: false } });
  const job_id = await job("never");
  const why = await get(`/api/jobs/${job_id}/why`);
  expect(why).toMatchObject({ code: "QUEUE_PAUSED", call: "POST /api/task-types/t.never/continue" });
  expect(await post("/api/task-types/t.never/continue")).toMatchObject({ body: { paused: false, changed: true } });
});

test("a tenant sees the workers that serve it, and of a shared one neither where it runs nor for whom", async () => {
  const { workers } = await get("/api/workers");
  expect(workers).toMatchObject([
    { shared: true, status: "live", host: null, pid: null, types: expect.arrayContaining(["t.ok"]), held: 0 },
  ]);
  await service.db.sql`
    insert into app.workers (worker_id, tenant_id, host, types, slots, lease_s)
    select gen_random_uuid(), t, 'host of ' || t, '{x.y}', 1, 30 from (values ('default'), ('rival')) v(t)
     where app.create_tenant(t) is not null`;
  const again = (await get("/api/workers")).workers;
  expect(again.map((one: { host: string }) => one.host).sort()).toEqual(["host of default", null].sort());
  await service.db.sql`delete from app.workers where host like 'host of %'`;
});

test("alerts are the tenant's own", async () => {
  await service.db.sql`select app.alert('default', 'test_alert', 'x', 'something odd')`.catch(() => null);
  const { alerts } = await get("/api/alerts?limit=5");
  expect(Array.isArray(alerts)).toBe(true);
  const { body } = await service.call("GET", "/api/alerts", { key: await service.key("rival") });
  expect(body.alerts).toEqual([]);
});
