// What every call has in common: who may, what is read, and how a refusal looks.
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({
    jobs: [defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] })],
    handlers: [defineHandler("t.say", {}, () => ({ said: true }))],
  });
});
afterAll(() => service.close());

test("a job is submitted once, and its second submit is told so", async () => {
  const first = await service.call("POST", "/api/jobs/submit/greet", { body: { parameters: { name: "Ada" } } });
  expect(first).toMatchObject({ status: 201, body: { created: true, job_type: "greet" } });
  const second = await service.call("POST", "/api/jobs/submit/greet", { body: { parameters: { name: "Ada" } } });
  expect(second).toMatchObject({ status: 200, body: { created: false, job_id: first.body.job_id } });
});

test("without a key, with a wrong one and without the scope, nothing is told", async () => {
  expect((await service.call("GET", "/api/jobs", { key: null })).status).toBe(401);
  const key = await service.key();
  expect((await service.call("GET", "/api/jobs", { key: `${key.slice(0, -4)}AAAA` })).status).toBe(401);
  const submitter = await service.key("default", ["submit"]);
  const refused = await service.call("GET", "/api/jobs", { key: submitter });
  expect(refused).toMatchObject({ status: 403, body: { code: "forbidden", hint: expect.stringContaining("read") } });
  expect(refused.headers.get("content-type")).toContain("application/problem+json");
});

test("all problems of a call are told at once", async () => {
  const { status, body } = await service.call("POST", "/api/jobs/submit/greet", {
    body: { parameters: 3, priority: "high", colour: "red" },
  });
  expect(status).toBe(400);
  expect(body.problems.map((one: { path: string }) => one.path)).toEqual(
    expect.arrayContaining(["body.parameters", "body.priority"]),
  );
});

test("an unknown job type and an unknown path are 404 with what to do", async () => {
  expect(await service.call("POST", "/api/jobs/submit/constructor", { body: {} })).toMatchObject({ status: 404 });
  expect(await service.call("GET", "/api/nothing")).toMatchObject({ status: 404, body: { code: "not_found" } });
});

test("a call under which the schema is changed is to be tried again", async () => {
  await service.db.script("alter function app.search_jobs rename to search_jobs_before");
  const cut_short = await service.call("GET", "/api/jobs");
  expect(cut_short).toMatchObject({ status: 503, body: { hint: expect.stringContaining("fanfold migrate") } });
  expect(cut_short.headers.get("retry-after")).toBe("2");
  await service.db.script("alter function app.search_jobs_before rename to search_jobs");
  expect(await service.call("GET", "/api/jobs")).toMatchObject({ status: 200 });
});
