// Bad input, from psql and from TypeScript: a clear error with its class, nothing written, never a crash.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { bothDatabases } from "../postgres.js";
import { one } from "./floor.js";

interface Vector {
  name: string;
  input_json_text: string;
  canonical?: string;
  error?: string;
  only?: string;
}
const vectors: Vector[] = JSON.parse(await readFile(new URL("../vectors/canonical.json", import.meta.url), "utf8"));

const blueprint = '{"type":"good","stages":[{"name":"a","task":"t.a"}]}';

const refused: [what: string, call: string, code: string][] = [
  ["a blueprint that is not an object", `app.submit('[]')`, "FF002"],
  ["a blueprint without stages", `app.submit('{"type":"x"}')`, "FF002"],
  ["a malformed job type", `app.submit('{"type":"../../x","stages":[{"name":"a","task":"t.a"}]}')`, "FF002"],
  [
    "a job type of 64 characters",
    `app.submit(jsonb_build_object('type', repeat('x', 64), 'stages', '[{"name":"a","task":"t.a"}]'::jsonb))`,
    "FF002",
  ],
  ["a fan-in first", `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a","parallelism":"fan_in"}]}')`, "FF002"],
  [
    "a fan-out without a plan",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a"},{"name":"b","task":"t.b","parallelism":"fan_out"}]}')`,
    "FF002",
  ],
  [
    "an after that does not exist",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a"},{"name":"b","task":"t.b","after":[7]}]}')`,
    "FF002",
  ],
  [
    "an after that points at itself",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a","after":[1]}]}')`,
    "FF002",
  ],
  [
    "two stages of one name",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a"},{"name":"a","task":"t.b"}]}')`,
    "FF002",
  ],
  [
    "a JSONPath that is none",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a","plan":{"each":"$.["}}]}')`,
    "FF002",
  ],
  ["max_parallel of zero", `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a","max_parallel":0}]}')`, "FF002"],
  [
    "a stage planned by code",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a","plan":{"function":"abc"}}]}')`,
    "FF002",
  ],
  [
    "a failure budget over 100 percent",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a","failure_budget":{"percent":150}}]}')`,
    "FF002",
  ],
  [
    "a failure budget that is text",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a","failure_budget":{"count":"x"}}]}')`,
    "FF002",
  ],
  [
    "an of that is text",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a"},{"name":"b","task":"t.b","of":"x"}]}')`,
    "FF002",
  ],
  [
    "a plan for a stage the engine plans",
    `app.submit('{"type":"x","stages":[{"name":"a","task":"t.a"},{"name":"b","task":"t.b","parallelism":"fan_in","plan":{"count":2}}]}')`,
    "FF002",
  ],
  [
    "a time that is none",
    `app.enqueue_tasks('{"task_type":"t.a","tasks":[{"parameters":"{}","run_at":"foo"}]}')`,
    "FF002",
  ],
  ["a task that is null", `app.enqueue_tasks('{"task_type":"t.a","tasks":[null]}')`, "FF002"],
  [
    "task parameters that are a list",
    `app.enqueue_tasks('{"task_type":"t.a","tasks":[{"parameters":"[1]"}]}')`,
    "FF002",
  ],
  [
    "a value nested 3,000 deep",
    `app.enqueue('t.a', ('{"x":' || repeat('[', 3000) || repeat(']', 3000) || '}')::jsonb)`,
    "FF002",
  ],
  ["parameters that are an array", `app.submit('${blueprint}', '[]')`, "FF002"],
  [
    "parameters that are an array, as the engine sends them",
    `app.submit_jobs('${blueprint}', '{"jobs":[{"parameters":"[1]"}]}')`,
    "FF002",
  ],
  ["parameters that are null", `app.submit('${blueprint}', 'null')`, "FF002"],
  ["parameters over 256 KB", `app.submit('${blueprint}', jsonb_build_object('x', repeat('x', 262144)))`, "FF004"],
  ["an integer beyond 2^53", `app.submit('${blueprint}', '{"n": 12345678901234567890}')`, "FF002"],
  ["a number beyond any double", `app.submit('${blueprint}', '{"n": 1e400}')`, "FF002"],
  ["an unknown mode", `app.submit('${blueprint}', mode => 'resurrect')`, "FF002"],
  ["a priority out of range", `app.submit('${blueprint}', options => '{"priority": 40000}')`, "FF002"],
  ["a negative deadline", `app.submit('${blueprint}', options => '{"deadline_s": -1}')`, "FF002"],
  ["labels that are a list", `app.submit('${blueprint}', options => '{"labels": [1]}')`, "FF002"],
  ["an unknown tenant", `app.submit('${blueprint}', tenant => 'nobody')`, "FF001"],
  ["a malformed task type", `app.enqueue('Mail Send')`, "FF002"],
  ["task parameters that are text", `app.enqueue('t.a', '"x"')`, "FF002"],
  ["an empty idempotency key", `app.enqueue('t.a', idempotency_key => '')`, "FF002"],
  ["attempts of zero", `app.enqueue('t.a', max_attempts => 0)`, "FF002"],
  ["task parameters over 256 KB", `app.enqueue('t.a', jsonb_build_object('x', repeat('x', 262144)))`, "FF004"],
  ["no such job", `app.get_job('${"0".repeat(64)}')`, "FF001"],
  ["a job id that is none", `app.get_job('''; drop table app.jobs; --')`, "FF001"],
  ["no such task", `app.get_task('1-999')`, "FF001"],
  ["a task id that is none", `app.cancel_task('../../etc/passwd')`, "FF001"],
  ["a page of -1 rows", `app.list_jobs(page_rows => -1)`, "FF002"],
  ["a page of a thousand million rows", `app.list_tasks(page_rows => 1000000000)`, "FF002"],
  ["a forged cursor", `app.list_jobs(cursor => '1; drop table app.jobs')`, "FF002"],
  ["a status that is none", `app.list_jobs(status => 'done; --')`, "FF002"],
  ["an infinite time", `app.reschedule_task('1-1', 'infinity')`, "FF001"],
];

bothDatabases("bad input", (open) => {
  test("each of the listed bad calls is refused with its own error, and leaves nothing behind", async () => {
    const db = await open();
    for (const [what, call, code] of refused) {
      const outcome = await db.script(`select ${call}`).then(
        () => "accepted",
        (error: { code: string }) => error.code,
      );
      expect([what, outcome]).toEqual([what, code]);
    }
    expect(await counts(db)).toEqual({ jobs: 0, stages: 0, tasks: 0, ready: 0, keys: 0 });
  });

  test("a blueprint's problems are all told at once, with where each is", async () => {
    const db = await open();
    const bad =
      '{"type":"Bad","stages":[{"name":"A","task":"t.a","batch":0},{"name":"b","task":"T","max_attempts":"many"}]}';
    const error = await db.script(`select app.submit('${bad}')`).catch((thrown: { detail: string }) => thrown);
    const problems = JSON.parse((error as { detail: string }).detail) as { path: string }[];
    expect(problems.map(({ path }) => path)).toEqual([
      "$.type",
      "$.stages[0].name",
      "$.stages[0].batch",
      "$.stages[1].task",
      "$.stages[1].max_attempts",
    ]);
  });

  test("262,144 bytes of parameters are accepted, one more is not", async () => {
    const db = await open();
    const most = 262_144 - '{"x":""}'.length;
    await db.sql`select app.enqueue('t.a', jsonb_build_object('x', repeat('x', ${most}::integer)))`;
    await expect(
      db.sql`select app.enqueue('t.a', jsonb_build_object('x', repeat('x', ${most + 1}::integer)))`,
    ).rejects.toMatchObject({ code: "FF004" });
    await expect(
      db.sql`select app.enqueue('t.a', jsonb_build_object('x', repeat('é', ${most / 2 + 1}::integer)))`,
    ).rejects.toMatchObject({ code: "FF004" });
  });

  test("SQL and TypeScript make the same canonical JSON of every vector", async () => {
    const db = await open();
    const shared = vectors.filter(({ only }) => only !== "typescript");
    expect(shared.length).toBeGreaterThan(20);
    for (const { name, input_json_text, canonical } of shared) {
      const outcome = await db.sql<{ c: string }>`select app.canonical(${input_json_text}::text::jsonb) as c`.then(
        ([row]) => row!.c,
        () => null,
      );
      expect([name, outcome]).toEqual([name, canonical ?? null]);
    }
  });
});

function counts(db: Database): Promise<unknown> {
  return one(db.sql`
    select (select count(*)::integer from app.jobs) as jobs, (select count(*)::integer from app.stages) as stages,
      (select count(*)::integer from app.tasks) as tasks, (select count(*)::integer from app.ready) as ready,
      (select count(*)::integer from app.idempotency_keys) as keys`);
}
