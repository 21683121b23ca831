// A dry run of a submit: what it tells, what it refuses, and that it leaves nothing behind.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createClient, OverLimit, ParameterError } from "../../src/client/index.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { openService, type TestService } from "./service.js";

const wide = defineJob({
  type: "wide",
  parameters: z.object({
    n: z.int().min(0).max(1_000_000).default(3),
    names: z.array(z.string()).default([]),
    publish: z.boolean().default(false),
  }),
  stages: [
    { name: "tiles", task: "t.tile", tasks: { count: "{parameters.n}" } },
    { name: "check", task: "t.tile", parallelism: "match_previous" },
    { name: "batches", task: "t.tile", parallelism: "fan_in", batch: 2 },
    { name: "names", task: "t.tile", after: [], tasks: { each: "$.names[*]" } },
    { name: "never", task: "t.tile", after: [], when: "$.parameters.publish == true" },
    { name: "code", task: "t.other", parallelism: "fan_out", after: ["tiles"], tasks: () => [] },
    { name: "found", task: "t.tile", parallelism: "fan_out", after: ["tiles"], tasks: { each: "$.found[*]" } },
    { name: "publish", task: "t.tile", after: ["check"], gate: "Publish it?" },
  ],
});
const failing = defineJob({
  type: "failing",
  parameters: z.object({ n: z.int() }),
  stages: [{ name: "fail", task: "t.fail", max_attempts: 1 }],
});

let service: TestService;
beforeAll(async () => {
  service = await openService({
    jobs: [wide, failing],
    handlers: [
      defineHandler("t.tile", {}, () => null),
      defineHandler("t.other", {}, () => null),
      defineHandler("t.fail", {}, () => {
        throw new Permanent("it is broken", { code: "broken" });
      }),
    ],
  });
});
afterAll(() => service.close());

const submit = async (type: string, body: unknown, tenant = "default") =>
  service.call("POST", `/api/jobs/submit/${type}`, { body, key: await service.key(tenant) });

/** How many rows every table has, and what the limits' bucket holds. */
async function everything(): Promise<Record<string, unknown>> {
  const tables = await service.db.sql`
    select relname as name, (xpath('/row/n/text()', query_to_xml('select count(*) as n from app.' || relname, false, true, '')))[1]::text as n
      from pg_class where relnamespace = 'app'::regnamespace and relkind in ('r', 'p') order by 1`;
  return Object.fromEntries(tables.map(({ name, n }) => [name, n]));
}

test("a dry run tells which stages would run, and of each how many tasks as far as its plan tells", async () => {
  const { status, body } = await submit("wide", { parameters: { n: 5, names: ["a", "b"] }, dry_run: true });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    dry_run: true,
    would: "create",
    job_type: "wide",
    run: 1,
    exists: null,
    waits_for: 0,
    deadline_s: 7200,
    parameters: { n: 5, names: ["a", "b"], publish: false },
    resume: null,
  });
  const told = Object.fromEntries(body.stages.map((stage: { name: string }) => [stage.name, stage]));
  expect(told.tiles).toMatchObject({ tasks: 5, why: null, conditional: false, gate: null, served: false });
  expect(told.check.tasks).toBe(5);
  expect(told.batches.tasks).toBe(3);
  expect(told.names.tasks).toBe(2);
  expect(told.never).toMatchObject({ tasks: 0, why: expect.stringContaining("condition") });
  expect(told.code).toMatchObject({ tasks: null, why: expect.stringContaining("code") });
  expect(told.found).toMatchObject({ tasks: null, why: expect.stringContaining("results") });
  expect(told.publish).toMatchObject({ tasks: 1, gate: "Publish it?" });
  expect(body.tasks).toBe(16);
  const { body: made } = await submit("wide", { parameters: { n: 5, names: ["a", "b"] } });
  expect(made.job_id, "the id it named is the one the job gets").toBe(body.job_id);
});

test("of content that exists it tells which job that is, and what each mode would do about it", async () => {
  const parameters = { n: 7 };
  const { body: made } = await submit("failing", { parameters });
  expect((await submit("failing", { parameters, dry_run: true })).body).toMatchObject({
    would: "reuse",
    job_id: made.job_id,
    run: 1,
    exists: { job_id: made.job_id, status: "queued" },
  });
  const worker = await service.worker({ types: ["t.fail"] });
  await service.engine.wait(made.job_id);
  await worker.stop();
  expect((await submit("failing", { parameters, dry_run: true, mode: "resume" })).body).toMatchObject({
    would: "resume",
    job_id: made.job_id,
    resume: { from_stage: 1, again: 1, kept: 0 },
  });
  const forced = (await submit("failing", { parameters, dry_run: true, mode: "force" })).body;
  expect(forced).toMatchObject({ would: "create", run: 2, exists: { job_id: made.job_id, run: 1, status: "failed" } });
  expect(forced.job_id).not.toBe(made.job_id);
  // Beside the parameters, as the options are.
  expect((await submit("failing", { n: 7, dry_run: true, resume: true })).body).toMatchObject({ would: "resume" });
});

test("what would refuse the submit refuses the dry run, in the same words", async () => {
  for (const [type, body] of [
    ["wide", { parameters: { n: -1, names: [3], nmaes: [] } }],
    ["wide", { parameters: {}, priority: 99_999_999 }],
    ["wide", { parameters: {}, depends_on: ["0".repeat(64)] }],
    ["wide", { parameters: {}, webhooks: [{ endpoint: "we_0123456789abcdef" }] }],
    ["nosuch", { parameters: {} }],
    ["wide", { parameters: {}, lables: {} }],
  ] as const) {
    const real = await submit(type, body);
    const dry = await submit(type, { ...body, dry_run: true });
    expect(real.status).toBeGreaterThanOrEqual(400);
    const { instance: _1, request_id: _2, trace_id: _3, ...told } = dry.body;
    const { instance: _4, request_id: _5, trace_id: _6, ...expected } = real.body;
    expect([dry.status, told]).toEqual([real.status, expected]);
  }
  await service.call("PUT", "/api/groups/full", { body: { expected: 1 } });
  await submit("wide", { parameters: { n: 1 }, group_id: "full" });
  const body = { parameters: { n: 2 }, group_id: "full", dry_run: true };
  expect(await submit("wide", body)).toMatchObject({ status: 409, body: { detail: expect.stringContaining("full") } });
});

test("limits are looked at, and nothing of them is used up", async () => {
  const key = await service.key("metered");
  await service.engine
    .forTenant("metered")
    .limits.change({ submits_per_s: 0.001, submit_burst: 2, fan_out: 10, queued_tasks: 8 });
  const client = createClient({ url: service.url, key });
  for (let n = 0; n < 5; n++) expect((await client.dryRun(wide, { n: 1 })).would).toBe("create");
  expect((await client.limits.own()).usage.submits_left).toBe(2);
  expect(await submit("wide", { parameters: { n: 11 }, dry_run: true }, "metered")).toMatchObject({ status: 422 });
  expect(await submit("wide", { parameters: { n: 9 }, dry_run: true }, "metered")).toMatchObject({ status: 422 });
  await client.submit(wide, { n: 1 });
  await client.submit(wide, { n: 1 });
  await expect(client.dryRun(wide, { n: 1 })).rejects.toBeInstanceOf(OverLimit);
  await expect(client.dryRun(wide, { n: -1 })).rejects.toBeInstanceOf(ParameterError);
});

test("a dry run writes nothing: every table has the rows it had, and no event was written", async () => {
  const { body: other } = await submit("failing", { parameters: { n: 1 } });
  const before = await everything();
  const options = {
    priority: 3,
    labels: { team: "hydro" },
    deadline_s: 60,
    correlation_id: "c",
    group_id: "new-group",
    webhooks: [{ url: "https://example.com/hook", secret: "secret://hook" }],
    depends_on: [other.job_id],
  };
  const { body } = await submit("wide", { parameters: { n: 4 }, ...options, dry_run: true });
  expect(body).toMatchObject({ would: "create", waits_for: 1, deadline_s: 60 });
  await submit("wide", { parameters: { n: 4 }, mode: "force", dry_run: true });
  await submit("wide", { parameters: { n: -4 }, dry_run: true });
  expect(await everything()).toEqual(before);
  expect((await service.call("GET", `/api/jobs/${body.job_id}`)).status).toBe(404);
  expect((await service.call("GET", "/api/groups/new-group")).status).toBe(404);
});
