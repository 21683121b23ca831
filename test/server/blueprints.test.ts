// Job types saved as data: read by the same rules as those in code, versioned, submitted like any other.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { type Answered, openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "coded",
        parameters: z.object({ n: z.int().default(1) }),
        stages: [{ name: "say", task: "t.say" }],
      }),
    ],
    handlers: [defineHandler("t.say", {}, (parameters) => ({ heard: parameters }))],
  });
  await service.worker();
});
afterAll(() => service.close());

const put = (type: string, body: unknown, key?: string): Promise<Answered> =>
  service.call("PUT", `/api/blueprints/${type}`, { body, key });
const one_stage = [{ name: "say", task: "t.say" }];
const greeting = {
  description: "One greeting per name",
  parameters: {
    type: "object",
    properties: {
      names: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
      loud: { type: "boolean", default: false },
    },
    required: ["names"],
    additionalProperties: false,
  },
  identity: ["names"],
  stages: [
    { name: "start", task: "t.say" },
    {
      name: "greet",
      task: "t.say",
      parallelism: "fan_out",
      tasks: { each: "$.heard.names[*]", parameters: { name: "{item}" } },
    },
    { name: "sum", task: "t.say", parallelism: "fan_in", when: "$.parameters.loud == true" },
  ],
};

test("what SQL saved without what has a default is shown whole", async () => {
  const key = await service.key("by-sql");
  const blueprint = { type: "by_sql", stages: [{ name: "say", task: "t.say" }] };
  const request = JSON.stringify({ tenant: "by-sql", declaration: { stages: blueprint.stages }, blueprint });
  await service.db.sql`select app.put_blueprint(${request}::text::json)`;
  // Answers are held against the contract here.
  expect(await service.call("GET", "/api/blueprints/by_sql", { key })).toMatchObject({
    status: 200,
    body: { description: null, deadline_s: 7200, stages: [{ number: 1, parallelism: "single", after: [] }] },
  });
});

test("a saved type is new, then unchanged, then a new version, and is shown with what was sent", async () => {
  expect(await put("greet_all", greeting)).toMatchObject({
    status: 201,
    body: {
      changed: true,
      warnings: [],
      blueprint: { source: "saved", version: 1, saved_by: expect.stringMatching(/^key:/) },
    },
  });
  expect(await put("greet_all", greeting)).toMatchObject({
    status: 200,
    body: { changed: false, blueprint: { version: 1 } },
  });
  expect(await put("greet_all", { ...greeting, description: "Other words" })).toMatchObject({
    status: 200,
    body: { changed: true, blueprint: { version: 2 } },
  });
  await put("greet_all", greeting);
  const { body } = await service.call("GET", "/api/blueprints/greet_all");
  expect(body).toMatchObject({ type: "greet_all", version: 3, declaration: greeting, parameters: greeting.parameters });
  expect(body.stages.map(({ name, after }: { name: string; after: number[] }) => [name, after])).toEqual([
    ["start", []],
    ["greet", [1]],
    ["sum", [2]],
  ]);
  const { blueprints } = (await service.call("GET", "/api/blueprints")).body;
  expect(blueprints.map(({ type, source }: Record<string, string>) => `${type} ${source}`)).toEqual([
    "coded registered",
    "greet_all saved",
  ]);
  expect(blueprints[0].parameters.properties.n.default).toBe(1);
});

test("it is submitted like any other: parameters checked, defaults filled in, and it runs", async () => {
  await put("greet_all", greeting);
  const bad = await service.call("POST", "/api/jobs/submit/greet_all", {
    body: { parameters: { names: ["Ada", ""], lod: true } },
  });
  expect(bad).toMatchObject({ status: 400, body: { code: "bad_parameters" } });
  expect(bad.body.problems).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: "$.names[1]" }),
      expect.objectContaining({ path: "$.lod", fix: 'Did you mean "loud"?' }),
    ]),
  );
  const { body } = await service.call("POST", "/api/jobs/submit/greet_all", {
    body: { parameters: { names: ["Ada", "Grace"] } },
  });
  const done = await service.call("GET", `/api/jobs/status/${body.job_id}?wait=true`);
  expect(done.body).toMatchObject({ status: "completed", parameters: { names: ["Ada", "Grace"], loud: false } });
  expect(done.body.stages.map(({ status, total }: Record<string, unknown>) => [status, total])).toEqual([
    ["completed", 1],
    ["completed", 2],
    ["skipped", 0],
  ]);
  // Only the names make it another job.
  const same = await service.call("POST", "/api/jobs/submit/greet_all", {
    body: { parameters: { names: ["Ada", "Grace"], loud: true } },
  });
  expect(same.body.job_id).toBe(body.job_id);
});

test("everything that is wrong with one is told at once, and the same by validate, which saves nothing", async () => {
  const wrong = {
    descripton: "x",
    parameters: {
      type: "object",
      properties: { a: { type: "strin" }, b: { type: "string", pattern: "(a+)+$" } },
      required: ["c"],
    },
    identity: ["nothing"],
    stages: [
      { name: "One", task: "t.say" },
      { name: "two", task: "t say", parallelism: "sideways", after: ["thre"] },
      { name: "three", task: "t.say", parallelism: "fan_out", tasks: { each: "$.[" } },
    ],
  };
  const { status, body } = await put("wrong", wrong);
  expect([status, body.code]).toEqual([400, "bad_declaration"]);
  const told = body.problems.map(({ path, problem }: Record<string, string>) => `${path}: ${problem}`).join("\n");
  for (const part of ["descripton", "strin", "pattern", '"c"', "One", "t say", "sideways", "thre", "each"])
    expect(told).toContain(part);
  const validated = await service.call("POST", "/api/blueprints/validate", { body: { type: "wrong", ...wrong } });
  expect(validated).toMatchObject({ status: 200, body: { ok: false } });
  expect(validated.body.problems).toEqual(body.problems);
  expect(await service.call("GET", "/api/blueprints/wrong")).toMatchObject({ status: 404 });
});

test("a path that only the database can judge is judged when all else is right", async () => {
  const stages = [
    { name: "start", task: "t.say" },
    { name: "more", task: "t.say", parallelism: "fan_out", tasks: { each: "!$.a == 1" } },
  ];
  const { body } = await service.call("POST", "/api/blueprints/validate", { body: { type: "paths", stages } });
  expect(body).toMatchObject({ ok: false, problems: [{ problem: expect.stringContaining("JSONPath") }] });
});

test("a task type nobody serves is a warning, not an error", async () => {
  const { status, body } = await put("lonely", { stages: [{ name: "say", task: "somewhere.else" }] });
  expect(status).toBe(201);
  expect(body.warnings).toMatchObject([{ path: "task type somewhere.else", problem: "no live worker serves it" }]);
});

test("a type in code wins: its name is taken, and it is not removed", async () => {
  expect(await put("coded", { stages: one_stage })).toMatchObject({ status: 409, body: { code: "conflict" } });
  expect(await service.call("DELETE", "/api/blueprints/coded")).toMatchObject({ status: 409 });
  expect((await service.call("GET", "/api/blueprints/coded")).body).toMatchObject({
    source: "registered",
    version: null,
  });
});

test("a removed type takes no new jobs, and can be saved again as the next version", async () => {
  await put("passing", { stages: one_stage });
  const first = await service.call("POST", "/api/jobs/submit/passing", { body: {} });
  expect(first.status).toBe(201);
  expect(await service.call("DELETE", "/api/blueprints/passing", { body: { reason: "done" } })).toMatchObject({
    body: { changed: true },
  });
  expect(await service.call("DELETE", "/api/blueprints/passing")).toMatchObject({
    status: 200,
    body: { changed: false },
  });
  expect(await service.call("POST", "/api/jobs/submit/passing", { body: { n: 2 } })).toMatchObject({ status: 404 });
  expect((await service.call("GET", `/api/jobs/status/${first.body.job_id}`)).status).toBe(200);
  expect(await put("passing", { stages: one_stage })).toMatchObject({
    status: 201,
    body: { blueprint: { version: 2 } },
  });
});

describe("schemas", () => {
  const says = async (parameters: unknown) =>
    (await service.call("POST", "/api/blueprints/validate", { body: { type: "s", parameters, stages: one_stage } }))
      .body;

  test.each([
    ["a reference", { type: "object", properties: { a: { $ref: "#/x" } } }, "$ref"],
    ["a constraint without its type", { type: "object", properties: { a: { minimum: 3 } } }, "minimum"],
    ["a condition", { type: "object", if: {}, properties: {} }, "if"],
    ["an unknown format", { type: "object", properties: { a: { type: "string", format: "colour" } } }, "colour"],
    ["no object", { type: "string" }, "object"],
    ["a list", [1], "JSON Schema"],
    ["an enum of objects", { type: "object", properties: { a: { enum: [{}] } } }, "enum"],
    ["a misspelt keyword", { type: "object", properties: { a: { type: "string", maxLenght: 3 } } }, "maxLength"],
    ["too much of it", { type: "object", description: "x".repeat(70_000) }, "bytes"],
  ])("%s is refused, since it would not be checked", async (_, parameters, word) => {
    const { ok, problems } = await says(parameters);
    expect(ok).toBe(false);
    expect(JSON.stringify(problems)).toContain(word);
  });

  test("what is taken is checked: types, bounds, formats, lists, choices and alternatives", async () => {
    const parameters = {
      type: "object",
      properties: {
        n: { type: "integer", minimum: 1, maximum: 5 },
        when: { type: "string", format: "date-time" },
        kind: { enum: ["a", "b"] },
        pair: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], minItems: 2, maxItems: 2 },
        either: { anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
      },
      additionalProperties: false,
    };
    expect(await put("checked", { parameters, stages: one_stage })).toMatchObject({ body: { changed: true } });
    const submit = (given: unknown) =>
      service.call("POST", "/api/jobs/submit/checked", { body: { parameters: given } });
    const good = { n: 3, when: "2030-01-01T00:00:00Z", kind: "a", pair: [1, 2], either: null };
    expect((await submit(good)).status).toBe(201);
    for (const bad of [
      { n: 0 },
      { n: 1.5 },
      { when: "soon" },
      { kind: "c" },
      { pair: [1] },
      { either: "long text" },
      { other: 1 },
    ]) {
      expect([bad, (await submit({ ...good, ...bad })).status]).toEqual([bad, 400]);
    }
  });
});

test("a saved type is the tenant's own", async () => {
  await put("private_type", { stages: one_stage });
  const key = await service.key("stranger");
  expect((await service.call("GET", "/api/blueprints/private_type", { key })).status).toBe(404);
  expect((await service.call("POST", "/api/jobs/submit/private_type", { key, body: {} })).status).toBe(404);
  expect(JSON.stringify((await service.call("GET", "/api/blueprints", { key })).body)).not.toContain("private_type");
  expect((await put("private_type", { stages: one_stage }, key)).status).toBe(201);
});
