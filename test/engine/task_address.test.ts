// A task is named by its id, or by job, stage and index, wherever a task is named; a job keeps the metadata it was submitted with and tells when
// it last changed; and a worker says one line for each task that ends when it is asked to.
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { helloGreet } from "../../src/handlers/hello/greet.js";
import { helloReply } from "../../src/handlers/hello/reply.js";
import { helloWorld } from "../../src/jobs/hello_world.js";
import { openService, type TestService } from "../server/service.js";

let service: TestService;
let job_id: string;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const slow = defineJob({ type: "odd", stages: [{ name: "only", task: "t.odd", tasks: { count: 2 } }] });
  service = await openService({
    jobs: [helloWorld, slow],
    handlers: [helloGreet, helloReply, defineHandler("t.odd", {}, () => Promise.reject(new Error("odd")))],
  });
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  await service.worker({ log: pino({ level: "info" }, stream), log_tasks: true });
  ({ job_id } = await service.engine.submit(
    "hello_world",
    { n: 2 },
    { metadata: { ticket: 17, deep: [{ a: null }] } },
  ));
  await service.engine.wait(job_id);
}, 120_000);
afterAll(() => service?.close());

const at = (address: string) => encodeURIComponent(address);

test("a task is found by job, stage and index: whole or short id, name or number of the stage", async () => {
  const by_id = (await service.engine.tasks({ job_id, stage: "greeting" })).tasks[1]!;
  for (const address of [
    `${job_id}/greeting/greeting-1`,
    `${job_id.slice(0, 12)}/greeting/greeting-1`,
    `${job_id}/1/greeting-1`,
  ]) {
    const { status, body } = await service.call("GET", `/api/tasks/${at(address)}`);
    expect([address, status, body.task_id, body.index]).toEqual([address, 200, by_id.task_id, "greeting-1"]);
  }
  for (const address of [`${job_id}/greeting/greeting-9`, `${job_id}/nothing/greeting-1`, `${"0".repeat(64)}/1/0`])
    expect((await service.call("GET", `/api/tasks/${at(address)}`)).status).toBe(404);
  const other = await service.key("globex");
  expect((await service.call("GET", `/api/tasks/${at(`${job_id}/1/greeting-1`)}`, { key: other })).status).toBe(404);
  expect((await service.call("GET", `/api/tasks/${at(`${job_id}/1`)}`)).status).toBe(400);
});

test("every verb about one task takes the address, and tells the id", async () => {
  const address = `${job_id}/reply/greeting-0`;
  const { task_id } = (await service.call("GET", `/api/tasks/${at(address)}`)).body;
  expect((await service.call("GET", `/api/tasks/${at(address)}/why`)).status).toBe(200);
  expect((await service.call("GET", `/api/tasks/${at(address)}/lineage`)).body.task_id).toBe(task_id);
  expect((await service.call("GET", `/api/tasks/${at(address)}/logs`)).body.task_id).toBe(task_id);
  expect((await service.call("GET", `/api/tasks/${at(address)}/value?of=result`)).status).toBe(200);
  const redone = await service.call("POST", `/api/tasks/${at(address)}/redo`, { body: {} });
  expect([redone.status, redone.body.again]).toEqual([200, 1]);
  await service.engine.wait(job_id);
  expect((await service.engine.task(task_id)).attempt).toBe(1);
  const odd = await service.engine.submit("odd", {}, { retry: { attempts: 1 } });
  await service.engine.wait(odd.job_id);
  // A task without a name of its own goes by its number.
  const retried = await service.call("POST", `/api/tasks/${at(`${odd.job_id}/only/1`)}/retry`, { body: {} });
  expect(retried.status).toBe(200);
  await service.engine.wait(odd.job_id);
});

test("a job keeps its metadata, of any shape and 16 KB at most, and tells when it last changed", async () => {
  const { body } = await service.call("GET", `/api/jobs/${job_id}`);
  expect(body.metadata).toEqual({ ticket: 17, deep: [{ a: null }] });
  expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(Date.parse(body.finished_at));
  const large = { parameters: { n: 3 }, metadata: { x: "x".repeat(17_000) } };
  const refused = await service.call("POST", "/api/jobs/submit/hello_world", { body: large });
  expect([refused.status, refused.body.problems[0].problem]).toEqual([400, expect.stringContaining("16 KB")]);
  const taken = await service.call("POST", "/api/jobs/submit/hello_world", {
    body: { parameters: { n: 1 }, metadata: {} },
  });
  expect(taken.status).toBe(201);
});

test("one line at level info for each task that completed, with its type, its job's and how long it took", () => {
  const told = lines.filter(({ msg, job_id: of }) => msg === "task completed" && of === job_id);
  expect(told.length).toBeGreaterThanOrEqual(4);
  expect(told[0]).toMatchObject({
    level: 30,
    job_type: "hello_world",
    task_type: expect.any(String),
    task: expect.any(String),
    attempt: 1,
    duration_ms: expect.any(Number),
    tenant_id: "default",
  });
});
