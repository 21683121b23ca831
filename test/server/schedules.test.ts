// Schedules, groups and dependencies over HTTP, with the tenant of the key and of nobody else.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Scheduler } from "../../src/engine/upkeep/scheduler.js";
import { nightly, nightly_handler, patternOf, putBack } from "../engine/scheduling.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({ jobs: [nightly], handlers: [nightly_handler] });
});
afterAll(() => service.close());

const body = {
  cron: "30 6 * * 1-5",
  time_zone: "Europe/Zurich",
  job_type: "nightly",
  parameters: { day: "{{tick_at}}" },
};

test("a schedule is made, read, changed, paused, continued, previewed, run and deleted", async () => {
  const { call } = service;
  const made = await call("PUT", "/api/schedules/morning", { body: { ...body, actor: "ann" } });
  expect(made).toMatchObject({
    status: 201,
    body: { name: "morning", version: 1, created_by: expect.stringMatching(/^key:\w+ \(ann\)$/), last: null },
  });
  expect((await call("PUT", "/api/schedules/morning", { body })).status).toBe(200);
  expect(await call("PUT", "/api/schedules/morning", { body: { ...body, if_version: 0 } })).toMatchObject({
    status: 409,
  });
  expect(await call("GET", "/api/schedules/morning")).toMatchObject({
    body: { words: "at 06:30, on Monday to Friday, Europe/Zurich", next_at: made.body.next_at },
  });
  expect(await call("PATCH", "/api/schedules/morning", { body: { missed: "skip" } })).toMatchObject({
    status: 200,
    body: { missed: "skip", cron: body.cron },
  });
  expect(await call("POST", "/api/schedules/morning/pause", { body: { reason: "holidays" } })).toMatchObject({
    status: 200,
    body: { changed: true, schedule: { pause_reason: "holidays", next_at: null } },
  });
  expect(await call("POST", "/api/schedules/morning/continue")).toMatchObject({ body: { changed: true } });
  const preview = await call("GET", "/api/schedules/morning/preview?count=3");
  expect(preview.body.next).toHaveLength(3);
  expect(await call("GET", "/api/schedule-preview?cron=0%200%20L%20*%20*")).toMatchObject({
    status: 200,
    body: { words: "at 00:00, on the last day of the month, UTC" },
  });
  const run = await call("POST", "/api/schedules/morning/run", { body: {} });
  expect(run).toMatchObject({ status: 201, body: { created: true, status: "queued" } });
  const ticks = await call("GET", "/api/schedules/morning/ticks");
  expect(ticks.body.ticks).toMatchObject([{ outcome: "submitted", by_hand: true, job_id: run.body.job_id }]);
  expect((await call("GET", "/api/schedules?limit=10")).body.schedules).toMatchObject([{ name: "morning" }]);
  const [listed] = (await call("GET", "/api/schedules?recent=5&fires=5")).body.schedules;
  expect(listed.recent).toMatchObject([{ job_id: run.body.job_id, job_status: "queued", by_hand: true }]);
  expect(listed.fires).toEqual((await call("GET", "/api/schedules/morning/preview?count=5")).body.next);
  const { deeds } = (await call("GET", `/api/audit?job_id=${run.body.job_id}`)).body;
  expect(deeds, "who ran it by hand is on record").toMatchObject([
    { kind: "job.submitted", actor: expect.stringMatching(/^key:/) },
  ]);
  expect(await call("DELETE", "/api/schedules/morning")).toMatchObject({ status: 200, body: { deleted: true } });
  expect((await call("GET", "/api/schedules/morning")).status).toBe(404);
});

test("the server's role takes what is due of every tenant, each for itself", async () => {
  const { call, key, engine, db } = service;
  const cron = await patternOf(db, 5);
  for (const tenant of ["acme", "globex"]) {
    const given = { ...body, cron, time_zone: "UTC" };
    expect((await call("PUT", "/api/schedules/same", { key: await key(tenant), body: given })).status).toBe(201);
  }
  await putBack(db, "same", cron, 3600);
  expect(await new Scheduler({ engine, log: engine.log }).round()).toMatchObject({ taken: 2, submitted: 2 });
  for (const tenant of ["acme", "globex"]) {
    const { body: page } = await call("GET", "/api/schedules/same/ticks", { key: await key(tenant) });
    expect(page.ticks).toMatchObject([{ outcome: "submitted" }]);
  }
  const jobs = await db.sql`select tenant_id from app.jobs where labels ->> 'schedule' = 'same' order by 1`;
  expect(jobs).toEqual([{ tenant_id: "acme" }, { tenant_id: "globex" }]);
});

test("bad schedules are refused with everything that is wrong, and no scope does what it may not", async () => {
  const { call, key } = service;
  for (const wrong of [
    { ...body, cron: "* *", time_zone: "Mars/X", parameters: { day: 5 } },
    { ...body, cron: "? * * * *" },
    { ...body, cron: "0 0 30 2 *" },
    { ...body, job_type: "nobody_knows" },
    { ...body, missed: "maybe", options: { prio: 1 } },
    { ...body, options: { group_id: "no spaces" } },
    { ...body, cron: "1,".repeat(5000) },
    {},
    [],
  ]) {
    const answer = await call("PUT", "/api/schedules/wrong", { body: wrong });
    expect([answer.status, answer.body.problems.length > 0]).toEqual([400, true]);
  }
  const three = await call("PUT", "/api/schedules/wrong", {
    body: { ...body, cron: "* *", time_zone: "Mars/X", parameters: { day: 5 } },
  });
  expect(three.body.problems.map(({ path }: { path: string }) => path)).toEqual([
    "$.time_zone",
    "$.cron",
    "$.parameters.day",
  ]);
  expect((await call("PUT", "/api/schedules/Bad%20Name", { body })).status).toBe(400);
  expect((await call("GET", "/api/schedules/none/ticks?cursor=x")).status).toBe(404);
  const reader = await key("default", ["read"]);
  expect((await call("PUT", "/api/schedules/mine", { key: reader, body })).status).toBe(403);
  expect((await call("POST", "/api/schedules/mine/run", { key: reader, body: {} })).status).toBe(403);
  expect((await call("GET", "/api/schedules", { key: reader })).status).toBe(200);
  expect((await call("GET", "/api/schedules", { key: null })).status).toBe(401);
});

test("a number of the query is written in digits: nothing, blanks and other spellings are refused", async () => {
  for (const text of ["", "%20", "0x1", "1e0"]) {
    const { status, body } = await service.call("GET", `/api/schedules?recent=${text}&limit=1`);
    expect([text, status, body.problems?.map(({ path }: { path: string }) => path)]).toEqual([
      text,
      400,
      ["query.recent"],
    ]);
  }
  expect((await service.call("GET", "/api/schedules?recent=0&limit=1")).status).toBe(200);
});

test("jobs wait for others and end in groups, over HTTP", async () => {
  const { call, engine } = service;
  expect(await call("PUT", "/api/groups/batch-1", { body: { name: "Batch", expected: 2 } })).toMatchObject({
    status: 201,
    body: { group_id: "batch-1", expected: 2, open: 0, status: "open" },
  });
  expect((await call("PUT", "/api/groups/batch-1", { body: { name: "Batch", expected: 2 } })).status).toBe(200);
  expect((await call("PUT", "/api/groups/batch-1", { body: { expected: 3 } })).status).toBe(409);
  const submit = (n: number, more: object) =>
    call("POST", "/api/jobs/submit/nightly", { body: { parameters: { n }, group_id: "batch-1", ...more } });
  const first = await submit(1, {});
  const second = await submit(2, { depends_on: [first.body.job_id], require: "completed" });
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(await submit(3, {})).toMatchObject({ status: 409, body: { code: "not_allowed_now" } });
  expect(await submit(4, { group_id: "b", depends_on: ["ab".repeat(32), "cd".repeat(32)] })).toMatchObject({
    status: 400,
    body: { problems: [{ path: "$.jobs[0].depends_on[0]" }, { path: "$.jobs[0].depends_on[1]" }] },
  });
  expect(await submit(4, { depends_on: ["short"], on_dependency_failure: "x" })).toMatchObject({ status: 400 });
  expect(await engine.status(second.body.job_id)).toMatchObject({
    waits_for: 1,
    group_id: "batch-1",
    depends_on: [{ job_id: first.body.job_id, needs: "completed" }],
  });
  const page = await call("GET", "/api/groups/batch-1/jobs?limit=1");
  expect(page.body.jobs).toHaveLength(1);
  expect((await call("GET", `/api/groups/batch-1/jobs?open=true&cursor=${page.body.next}`)).body.jobs).toHaveLength(1);
  expect(await call("POST", "/api/groups/batch-1/cancel", { body: { dry_run: true } })).toMatchObject({
    status: 200,
    body: { cancelled: 2, left: 0, changed: false },
  });
  await service.worker();
  await engine.wait(second.body.job_id);
  expect(await call("GET", "/api/groups/batch-1")).toMatchObject({
    body: { status: "completed", completed: 2, open: 0, total: 2 },
  });
  expect((await call("GET", "/api/groups?status=completed")).body.groups).toMatchObject([{ group_id: "batch-1" }]);
  expect(await call("POST", "/api/groups/batch-1/seal", { body: {} })).toMatchObject({ body: { changed: false } });
  const theirs = { key: await service.key("acme") };
  for (const [method, path] of [
    ["GET", "/api/groups/batch-1"],
    ["GET", "/api/groups/batch-1/jobs"],
    ["POST", "/api/groups/batch-1/seal"],
    ["POST", "/api/groups/batch-1/cancel"],
  ] as const) {
    expect((await call(method, path, method === "POST" ? { ...theirs, body: {} } : theirs)).status).toBe(404);
  }
  expect(
    await call("POST", "/api/jobs/submit/nightly", {
      ...theirs,
      body: { parameters: { n: 9 }, depends_on: [first.body.job_id] },
    }),
  ).toMatchObject({ status: 400 });
});
