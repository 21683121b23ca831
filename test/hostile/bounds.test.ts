// One tenant sends whatever it can think of to keep the database or the server busy, by HTTP, by a login of its own and with what an
// older release had kept; another tenant's jobs are done meanwhile, and no session of the database is lost.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { openService, type TestService } from "../server/service.js";

const quick = defineHandler("t.quick", {}, async (parameters) => ({ got: Object.keys(parameters as object).length }));
const calm_job = defineJob({
  type: "calm",
  stages: [
    { name: "a", task: "t.quick" },
    { name: "b", task: "t.quick" },
  ],
});

let service: TestService;
let evil: string;
let calm: string;
/** Opened first and never used up: a crash of the server would end it. */
let witness: Database;
let witness_pid: number;
let login: Database;
const role = `ff_evil_${Math.random().toString(36).slice(2, 8)}`;

const pidOf = async (db: Database) => (await db.sql<{ pid: number }>`select pg_backend_pid() as pid`)[0]!.pid;

beforeAll(async () => {
  service = await openService({ handlers: [quick], jobs: [calm_job] });
  [evil, calm] = [await service.key("evil"), await service.key("calm")];
  witness = openServer(service.database_url);
  witness_pid = await pidOf(witness);
  await service.db.script(`create role ${role} login; grant fanfold_api, fanfold_worker to ${role}`);
  await service.db.sql`select app.map_role(${role}::text::name, 'evil')`;
  const own = new URL(service.database_url);
  own.username = role;
  login = openServer(own.href, { max: 2 });
  await service.worker({ slots: 4 });
});

afterAll(async () => {
  await witness.close();
  await login.close();
  await service.db.script(
    `delete from app.tenant_roles where role_name = '${role}'; drop owned by ${role}; drop role ${role}`,
  );
  await service.close();
});

let calm_runs = 0;

/** Another tenant's job, from its submit to its end. */
async function calmJobEnds(): Promise<void> {
  const body = { parameters: { run: ++calm_runs } };
  const submitted = await service.call("POST", "/api/jobs/submit/calm", { key: calm, body });
  expect(submitted.status).toBe(201);
  const ended = await service.call("GET", `/api/jobs/status/${submitted.body.job_id}?wait=true`, { key: calm });
  expect([ended.status, ended.body.status]).toEqual([200, "completed"]);
  expect(await pidOf(witness)).toBe(witness_pid);
}

async function ended(job_id: string): Promise<{ status: string; error: { code?: string; message: string } | null }> {
  for (;;) {
    const { body } = await service.call("GET", `/api/jobs/status/${job_id}?wait=true`, { key: evil });
    if (!["queued", "processing"].includes(body.status)) return body;
  }
}

const deep = (levels: number): string => (levels === 0 ? "@ > 1" : `exists($.parameters.x[*] ? (${deep(levels - 1)}))`);
const bombs = [
  ["a filter over everything inside a filter", deep(6)],
  ["everything below everything", "$.** ? (@ > 1)"],
  ["subscripts that multiply", `$.parameters.x${"[0,0,0,0,0,0,0,0]".repeat(9)} == 1`],
  ["two lists compared", "$.parameters.x[*] == $.parameters.x[*]"],
  ["a pattern", '$.parameters.x like_regex "(((a+)+)+)+$"'],
  ["sums of long numbers", "$.parameters.x[*] * $.parameters.x[*] > 1"],
  ["pairs of pairs", "exists($.parameters.keyvalue().value.keyvalue().value)"],
  ["a long number", "$.parameters.x > 1e100000"],
  ["a long path", `$.parameters${".x".repeat(400)} == 1`],
  ["many steps", `$.parameters.x${"[*]".repeat(60)} == 1`],
] as const;

describe("a path that could take for ever", () => {
  test.each(bombs)("%s is refused over HTTP and in SQL, with what to write instead", async (_, path) => {
    const stages = [
      { name: "a", task: "t.quick" },
      { name: "b", task: "t.quick", when: path },
    ];
    const saved = await service.call("PUT", "/api/blueprints/bomb", { key: evil, body: { stages } });
    expect(saved.status).toBe(400);
    expect(saved.body.problems[0]).toMatchObject({ problem: expect.any(String), fix: expect.stringMatching(/\w/) });
    const each = [
      { name: "a", task: "t.quick" },
      { name: "b", task: "t.quick", parallelism: "fan_out", tasks: { each: path } },
    ];
    expect((await service.call("PUT", "/api/blueprints/bomb", { key: evil, body: { stages: each } })).status).toBe(400);
    const blueprint = { type: "bomb", stages: [{ name: "a", task: "t.quick", when: { path } }] };
    const request = JSON.stringify({ blueprint, declaration: {} });
    const tries = [
      () => login.sql`select app.submit(${JSON.stringify(blueprint)}::text::jsonb, '{"x": [1, 2, 3]}')`,
      () => login.sql`select app.put_blueprint(${request}::text::json)`,
      () => login.sql`select app.keep_blueprint(${JSON.stringify(blueprint)}::text::jsonb)`,
    ];
    for (const refused of tries) await expect(refused()).rejects.toMatchObject({ code: "FF002" });
  });

  test("and was kept by an older release fails the stage it stands in, not the finish, and nobody else waits", async () => {
    const stages = [
      { name: "a", task: "t.quick" },
      { name: "b", task: "t.quick", when: { path: "$.parameters.x == 1" } },
    ];
    const x = Array.from({ length: 3_000 }, (_, at) => at % 10);
    const blueprint = JSON.stringify({ type: "kept", stages });
    // Paused, so that nothing runs before the older release's words stand there.
    await service.db.sql`select app.pause_type('t.quick', 'evil')`;
    const [row] = await login.sql<{ reply: { job_id: string } }>`
      select app.submit(${blueprint}::text::jsonb, ${JSON.stringify({ x })}::text::jsonb) as reply`;
    const { job_id } = row!.reply;
    await service.db.sql`
      update app.stages set condition = ${JSON.stringify({ path: deep(6) })}::text::jsonb where job_id = ${job_id} and number = 2`;
    await service.db.sql`select app.continue_type('t.quick', 'evil')`;
    const [seen] = await Promise.all([ended(job_id), calmJobEnds()]);
    expect(seen).toMatchObject({ status: "failed", error: { code: "bad_condition" } });
    // The blueprint itself, as it was saved then.
    await service.db.sql`
      insert into app.saved_blueprints (tenant_id, job_type, version, declaration, blueprint, saved_by)
      values ('evil', 'old_bomb', 1, ${JSON.stringify({ stages: [{ name: "a", task: "t.quick", when: deep(6) }] })}::text::jsonb,
        ${JSON.stringify({ type: "old_bomb", stages: [{ name: "a", task: "t.quick", when: { path: deep(6) } }] })}::text::jsonb, 'then')`;
    const submitted = await service.call("POST", "/api/jobs/submit/old_bomb", {
      key: evil,
      body: { parameters: { x } },
    });
    expect([submitted.status, submitted.body.code]).toEqual([400, "bad_declaration"]);
  });
});

describe("plans that grow", () => {
  const save = (type: string, body: object) => service.call("PUT", `/api/blueprints/${type}`, { key: evil, body });
  const send = (type: string, parameters: object) =>
    service.call("POST", `/api/jobs/submit/${type}`, { key: evil, body: { parameters } });

  test("of every parameter in every task are refused, or fail alone", async () => {
    const tasks = { each: "$.items[*]", parameters: { all: "{parameters}" } };
    await save("grow", { stages: [{ name: "a", task: "t.quick", tasks }] });
    const items = Array.from({ length: 1_000 }, (_, at) => ({ at, text: "x".repeat(200) }));
    const refused = await send("grow", { items });
    expect([refused.status, refused.body.code]).toEqual([422, "beyond_limit"]);
    await save("grow_later", {
      stages: [
        { name: "a", task: "t.quick" },
        { name: "b", task: "t.quick", after: ["a"], tasks },
      ],
    });
    const later = await send("grow_later", { items });
    expect(later.status).toBe(201);
    const [seen] = await Promise.all([ended(later.body.job_id), calmJobEnds()]);
    expect(seen).toMatchObject({ status: "failed", error: { code: "plan_too_large" } });
  });

  test("of many conditions over large parameters hold nobody up", async () => {
    const stages = Array.from({ length: 40 }, (_, at) => ({
      name: `s${at}`,
      task: "t.quick",
      after: [],
      when: `$.parameters.x${"[*]".repeat(20)} == ${at + 2}`,
    }));
    expect((await save("steps", { stages })).status).toBe(201);
    const sent = await send("steps", { x: Array.from({ length: 30_000 }, () => 1) });
    expect(sent.status).toBe(201);
    for (let at = 0; at < 3; at++) await calmJobEnds();
    expect((await ended(sent.body.job_id)).status).toBe("completed");
  });
});

describe("what else could be large", () => {
  test.each([
    ["a number of a hundred thousand digits", `{"x": [${new Array(100).fill("1e100000").join()}]}`],
    ["a number next to nothing", '{"x": 1e-16000}'],
  ])("%s is refused of a login, wherever it is sent", async (_, wild) => {
    const plain = { type: "plain", stages: [{ name: "a", task: "t.quick" }] };
    const quoted = JSON.stringify(wild);
    const job = `{"jobs": [{"parameters": ${quoted}}], "mode": "reuse"}`;
    const [kept] = await login.sql<{
      hash: string;
    }>`select app.keep_blueprint(${JSON.stringify(plain)}::text::jsonb)::text as hash`;
    const hash = JSON.parse(kept!.hash) as string;
    const deep_in = `{"type": "plain", "stages": [{"name": "a", "task": "t.quick", "plan": {"count": 1, "parameters": ${wild}}}]}`;
    for (const refused of [
      () => login.sql`select app.submit(${JSON.stringify(plain)}::text::jsonb, ${wild}::text::jsonb)`,
      () => login.sql`select app.submit_jobs(${JSON.stringify(plain)}::text::jsonb, ${job}::text::json)`,
      () => login.sql`select app.submit_kept(${hash}, ${job}::text::json)`,
      () =>
        login.sql`select app.submit(${JSON.stringify(plain)}::text::jsonb, '{}', 'reuse', ${`{"labels": ${wild}}`}::text::jsonb)`,
      () => login.sql`select app.keep_blueprint(${deep_in}::text::jsonb)`,
      () => login.sql`select app.enqueue('t.quick', ${wild}::text::jsonb)`,
      () =>
        login.sql`select app.enqueue_tasks(${`{"task_type": "t.quick", "tasks": [{"parameters": ${quoted}}]}`}::text::json)`,
      () =>
        login.sql`select app.enqueue_tasks(${`{"task_type": "t.quick", "tasks": [{"parameters": "{}", "metadata": ${wild}}]}`}::text::json)`,
      () => login.sql`select app.enqueue_alike('t.quick', ${`[${wild}]`})`,
    ])
      await expect(refused()).rejects.toMatchObject({ code: "FF002" });
    // A text may well look like one.
    const [sent] = await login.sql<{ reply: { created: boolean } }>`
      select app.submit(${JSON.stringify(plain)}::text::jsonb, ${`{"name": "scene_1e4000", "n": 1e300, "m": ${wild.length}}`}::text::jsonb) as reply`;
    expect(sent!.reply.created).toBe(true);
  });

  test("blueprints of more than they may be together are refused", async () => {
    await service.db.sql`
      insert into app.saved_blueprints (tenant_id, job_type, version, declaration, blueprint, saved_by)
      select 'evil', 'large_' || n, 1, '{}', jsonb_build_object('type', 'large_' || n, 'stages', '[]'::jsonb, 'description', repeat('x', 1045000)), 'then'
        from generate_series(1, 8) n`;
    const body = { stages: [{ name: "a", task: "t.quick", description: "x".repeat(3_900) }] };
    const statuses: number[] = [];
    while (statuses.length < 100 && statuses.at(-1) !== 422) {
      const path = `/api/blueprints/small_${statuses.length}`;
      statuses.push((await service.call("PUT", path, { key: evil, body })).status);
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([201, 422]);
    await service.db.sql`delete from app.saved_blueprints where job_type like 'large%'`;
    const huge = JSON.stringify({
      type: "huge",
      stages: [{ name: "a", task: "t.quick", description: "x" }],
      more: "x".repeat(2_000_000),
    });
    await expect(login.sql`select app.keep_blueprint(${huge}::text::jsonb)`).rejects.toMatchObject({ code: "FF002" });
  });

  test.each([
    ["a pattern", { type: "string", pattern: "^(a+)+$" }],
    ["references", { $ref: "#/properties/a" }],
    ["alternatives of alternatives", nested(40)],
  ])("a schema with %s is refused", async (_, a) => {
    const body = { parameters: { type: "object", properties: { a } }, stages: [{ name: "a", task: "t.quick" }] };
    expect((await service.call("PUT", "/api/blueprints/schema", { key: evil, body })).status).toBe(400);
  });
});

function nested(levels: number): object {
  return levels === 0 ? { type: "string" } : { anyOf: [nested(levels - 1), { type: "null" }] };
}
