// Platform requests as a client system meets them: routed, submitted once, followed by any id, repaired; recipes in code, with functions,
// and saved as data; and nothing of another tenant's.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createClient } from "../../src/client/client.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { defineRecipe } from "../../src/core/declare/recipe.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let held: Promise<void> = Promise.resolve();
const broken = new Set<string>();

const job = (type: string) =>
  defineJob({ type, parameters: z.looseObject({}), stages: [{ name: "only", task: "t.work" }] });

const recipes = [
  defineRecipe({
    data_type: "table",
    description: "One table",
    accepts: { extensions: [".csv"], max_files: 1 },
    parameters: z.object({ delimiter: z.string().default(",") }),
    jobs: [
      {
        name: "validate",
        job: "check",
        parameters: { file: "{request.files.0}", delimiter: "{parameters.delimiter}" },
      },
      {
        name: "load",
        job: "load",
        parameters: { rows: "{jobs.validate.result.rows}", into: "{request.names.collection}" },
      },
    ],
  }),
  defineRecipe({
    data_type: "coded",
    accepts: { extensions: [".csv"], min_files: 2 },
    jobs: [
      { name: "each", job: "check", parameters: ({ request }) => ({ files: request.files.length }) },
      { name: "maybe", job: "load", when: ({ jobs }) => jobs.each?.result.files > 2 },
      {
        name: "last",
        job: "load",
        parameters: ({ request }) => {
          if (request.dataset_id === "wrong") throw new Permanent("this dataset has no last job");
          return { last: true };
        },
      },
    ],
  }),
];

beforeAll(async () => {
  service = await openService({
    jobs: [job("check"), job("load")],
    recipes,
    handlers: [
      defineHandler("t.work", {}, async (parameters) => {
        await held;
        if (broken.has(parameters.file)) throw new Permanent(`${parameters.file} is no table`);
        return { rows: 3, ...parameters };
      }),
    ],
  });
  await service.worker();
});
afterAll(() => service.close());

const table = (dataset_id: string, more: object = {}) => ({
  dataset_id,
  resource_id: "r",
  version_id: "1",
  files: [`bronze:${dataset_id}.csv`],
  ...more,
});

async function ended(id: string, key?: string) {
  for (;;) {
    const answer = await service.call("GET", `/api/platform/status/${id}`, { key });
    if (answer.status !== 202) return answer;
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("a request is routed by its files, runs its jobs, and answers by any of its ids", async () => {
  const would = await service.call("POST", "/api/platform/submit?dry_run=true", { body: table("dem") });
  expect(would).toMatchObject({
    status: 200,
    body: {
      dry_run: true,
      would: "create",
      data_type: "table",
      parameters: { delimiter: "," },
      names: { collection: "dem", item: "dem-r-1" },
      problems: [],
      jobs: [
        { name: "validate", sequence: 1 },
        { name: "load", sequence: 2 },
      ],
    },
  });
  let letGo!: () => void;
  held = new Promise((resolve) => (letGo = resolve));
  const body = table("dem", { client_id: "ddh", request_type: "create" });
  const first = await service.call("POST", "/api/platform/submit", { body });
  expect(first).toMatchObject({
    status: 202,
    body: { created: true, status: "processing", request_id: would.body.request_id },
  });
  const { request_id } = first.body;
  expect(await service.call("POST", "/api/platform/submit", { body })).toMatchObject({
    status: 202,
    body: { created: false },
  });
  const running = await service.call("GET", "/api/platform/status/dem/r/1");
  expect(running).toMatchObject({
    status: 202,
    body: { request_id, status: "processing", metadata: { client_id: "ddh" } },
  });
  expect(running.headers.get("retry-after")).toMatch(/^\d+$/);
  letGo();
  const { status, body: request } = await ended(request_id);
  expect(status).toBe(200);
  expect(request).toMatchObject({
    status: "completed",
    result_data: { counts: { completed: 2 }, outputs: { load: { rows: 3, into: "dem" } }, services: [], errors: [] },
  });
  for (const id of [request.jobs[1].job_id, "dem/r", "dem/r/1"])
    expect((await service.call("GET", `/api/platform/status/${id}?detail=full`)).body).toMatchObject({
      request_id,
      details: [{ job_type: "check" }, { job_type: "load" }],
    });
  const listed = await service.call("GET", "/api/platform/requests?client_id=ddh&status=completed,failed");
  expect(listed.body.requests.map((one: { request_id: string }) => one.request_id)).toEqual([request_id]);
});

test("what cannot be routed, or is wrong, is refused with what would be accepted", async () => {
  const unroutable = await service.call("POST", "/api/platform/submit", {
    body: table("x", { files: ["bronze:x.las"] }),
  });
  expect(unroutable.status).toBe(400);
  expect(unroutable.body.hint).toContain("table (one file: .csv)");
  const misspelt = await service.call("POST", "/api/platform/submit", { body: table("x", { data_type: "tabel" }) });
  expect(misspelt.body.problems[0].fix).toContain("table");
  const wrong = await service.call("POST", "/api/platform/submit", {
    body: table("x", { parameters: { delimiter: 7 } }),
  });
  expect(wrong).toMatchObject({ status: 400, body: { problems: [{ path: "$.delimiter" }] } });
  await service.call("POST", "/api/platform/submit", { body: table("twice") });
  const other = await service.call("POST", "/api/platform/submit", {
    body: table("twice", { parameters: { delimiter: ";" } }),
  });
  expect(other).toMatchObject({ status: 409 });
  expect(other.body.hint).toContain("force");
});

test("a request that failed says why, is counted as a pattern, and goes on when it is resubmitted", async () => {
  broken.add("bronze:bad.csv");
  const client = createClient({ url: service.url, key: await service.key() });
  const { request_id } = await client.requests.submit(table("bad"));
  const failed = await client.requests.wait(request_id);
  expect(failed).toMatchObject({ status: "failed", resumable: true, error: { job: "validate" } });
  expect(failed.result_data!.errors).toMatchObject([{ job: "validate", groups: [{ tasks: 1 }] }]);
  expect(failed.jobs.map(({ status }) => status)).toEqual(["failed", "cancelled"]);
  const { patterns } = await client.requests.failures({ hours: 1 });
  expect(patterns).toMatchObject([{ data_type: "table", job: "validate", requests: 1, latest: { request_id } }]);
  broken.clear();
  expect(await client.requests.resubmit(request_id)).toMatchObject({ resumed: true, epoch: 2 });
  expect((await client.requests.wait(request_id)).status).toBe("completed");
  expect(await client.requests.resubmit(request_id, { mode: "force" })).toMatchObject({ created: true, run: 2 });
  await expect(client.requests.resubmit(request_id)).rejects.toMatchObject({ code: "not_allowed_now" });
});

test("functions of a recipe are asked of a worker that has it; what they throw is their job's failure", async () => {
  const files = ["bronze:a.csv", "bronze:b.csv"];
  const few = await service.call("POST", "/api/platform/submit", { body: table("few", { files }) });
  expect(few.body.data_type).toBe("coded");
  const many = await service.call("POST", "/api/platform/submit", {
    body: table("many", { files: [...files, "bronze:c.csv"] }),
  });
  const wrong = await service.call("POST", "/api/platform/submit", { body: table("wrong", { files }) });
  const statuses = async (id: string) => (await ended(id)).body.jobs.map(({ status }: { status: string }) => status);
  expect(await statuses(few.body.request_id)).toEqual(["completed", "skipped", "skipped"]);
  expect(await statuses(many.body.request_id)).toEqual(["completed", "completed", "completed"]);
  expect(await statuses(wrong.body.request_id)).toEqual(["completed", "skipped", "skipped"]);
  const more = await service.call("POST", "/api/platform/submit", {
    body: table("wrong", { version_id: "2", files: [...files, "bronze:c.csv"] }),
  });
  const { body } = await ended(more.body.request_id);
  expect(body).toMatchObject({ status: "failed", error: { job: "last", message: "this dataset has no last job" } });
});

test("a recipe saved as data is read by the same rules, versioned, and used until it is removed", async () => {
  const declaration = {
    accepts: { extensions: [".txt"] },
    parameters: { type: "object", properties: { n: { type: "integer", default: 1 } }, additionalProperties: false },
    jobs: [
      { name: "a", job: "check", parameters: { n: "{parameters.n}" } },
      { name: "b", job: "load", after: ["a"], when: '$.jobs.a.status == "completed"' },
    ],
  };
  const saved = await service.call("PUT", "/api/platform/recipes/text", { body: declaration });
  expect(saved).toMatchObject({
    status: 201,
    body: { changed: true, recipe: { version: 1, jobs: [{ sequence: 1 }, { sequence: 2 }] } },
  });
  const wrong = await service.call("PUT", "/api/platform/recipes/text", {
    body: {
      jobs: [
        { name: "a", job: "check", parameters: { x: "{jobs.b.result}" } },
        { name: "b", after: ["c"] },
      ],
    },
  });
  expect(wrong.status).toBe(400);
  expect(wrong.body.problems.map(({ path }: { path: string }) => path)).toEqual([
    "recipe text, job b, job",
    "recipe text, job b, after",
    "recipe text, job a, parameters",
  ]);
  const asked = await service.call("POST", "/api/platform/submit", {
    body: table("note", { files: ["bronze:n.TXT"] }),
  });
  expect(asked.body.data_type).toBe("text");
  expect((await ended(asked.body.request_id)).body.result_data.outputs.a).toMatchObject({ n: 1 });
  expect((await service.call("DELETE", "/api/platform/recipes/text")).body).toEqual({
    data_type: "text",
    changed: true,
  });
  expect((await service.call("DELETE", "/api/platform/recipes/table")).status).toBe(409);
  const gone = await service.call("POST", "/api/platform/submit", {
    body: table("note2", { files: ["bronze:n.txt"] }),
  });
  expect(gone.status).toBe(400);
});

test("a tenant sees nothing of another's requests, over HTTP or with a login of its own", async () => {
  const mine = (await service.call("POST", "/api/platform/submit", { body: table("secret") })).body;
  const key = await service.key("acme");
  await ended(mine.request_id);
  for (const id of [mine.request_id, "secret/r", "secret/r/1"])
    expect((await service.call("GET", `/api/platform/status/${id}`, { key })).status).toBe(404);
  expect((await service.call("GET", "/api/platform/requests", { key })).body.requests).toEqual([]);
  expect(
    (await service.call("POST", `/api/platform/requests/${mine.request_id}/cancel`, { key, body: {} })).status,
  ).toBe(404);
  expect((await service.call("GET", "/api/platform/failures", { key })).body.total).toBe(0);
  const login = `ff_acme_${Math.random().toString(36).slice(2, 10)}`;
  await service.db.script(`create role ${login} login; grant fanfold_api to ${login}`);
  await service.db.sql`select app.map_role(${login}::text::name, 'acme')`;
  const url = new URL(service.database_url);
  url.username = login;
  const theirs = openServer(url.href);
  try {
    const [counted] = await theirs.sql`
      select (select count(*)::int from platform.requests) as requests, (select count(*)::int from platform.request_jobs) as jobs,
        (select count(*)::int from platform.recipes) as recipes`;
    expect(counted).toEqual({ requests: 0, jobs: 0, recipes: 0 });
    await expect(theirs.sql`select platform.get_request(${mine.request_id})`).rejects.toMatchObject({ code: "FF001" });
    await expect(theirs.sql`select platform.get_request(${mine.request_id}, 'default')`).rejects.toMatchObject({
      code: "FF005",
    });
    await expect(theirs.sql`update platform.requests set status = 'completed'`).rejects.toMatchObject({
      code: "42501",
    });
    const [own] = await theirs.sql<{ reply: { created: boolean } }>`
      select platform.submit('{"dataset_id": "secret", "resource_id": "r", "version_id": "1", "files": ["bronze:s.csv"]}') as reply`;
    expect(own!.reply).toMatchObject({ created: true, data_type: "table" });
  } finally {
    await theirs.close();
    await service.db.script(`drop owned by ${login}; drop role ${login}`);
  }
});
