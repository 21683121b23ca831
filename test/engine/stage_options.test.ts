// What a submit says of single stages: taken as far as the blueprint allows, refused beyond, all problems at once; by SQL, engine, HTTP and CLI.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { fanfold } from "../cli/fake_terminal.js";
import { openService, type TestService } from "../server/service.js";

const job = defineJob({
  type: "wide",
  stages: [
    { name: "list", task: "t.list", overrides: false },
    {
      name: "tiles",
      task: "t.tile",
      parallelism: "fan_out",
      tasks: { count: 10 },
      max_parallel: 4,
      failure_budget: { percent: 10 },
      retry: { attempts: 2, base_s: 5 },
      overrides: { max_parallel: 16, failure_budget: { percent: 30 }, max_attempts: 6 },
    },
    { name: "sum", task: "t.sum", parallelism: "fan_in", max_parallel: 2 },
  ],
});

let service: TestService;
beforeAll(async () => {
  const handlers = ["t.list", "t.tile", "t.sum"].map((type) => defineHandler(type, {}, () => null));
  service = await openService({ jobs: [job], handlers });
});
afterAll(() => service.close());

let n = 0;
const stagesOf = async (job_id: string) => {
  const rows = await service.db.sql<Record<string, unknown>>`
    select name, max_parallel, max_attempts, retry, budget_count, budget_percent::float from app.stages where job_id = ${job_id} order by number`;
  return Object.fromEntries(rows.map(({ name, ...stage }) => [name, stage]));
};

test("settings of a stage are those of the submit; what is not said stays as the blueprint, or the submit for all stages, has it", async () => {
  const client = createClient({ url: service.url, key: await service.key() });
  const { job_id } = await client.submit(
    "wide",
    { n: n++ },
    {
      retry: { attempts: 3, cap_s: 9 },
      stage_options: {
        tiles: { max_parallel: 16, failure_budget: { percent: 30 }, max_attempts: 6, retry: { base_s: 0.5 } },
        sum: { max_parallel: 1, failure_budget: { count: 0 } },
      },
    },
  );
  expect(await stagesOf(job_id)).toMatchObject({
    list: { max_parallel: null, max_attempts: 3, retry: { cap_s: 9 }, budget_percent: null },
    tiles: {
      max_parallel: 16,
      max_attempts: 6,
      retry: { base_s: 0.5, cap_s: 9 },
      budget_percent: 30,
      budget_count: null,
    },
    sum: { max_parallel: 1, max_attempts: 3, budget_count: 0 },
  });
  const plain = await client.submit("wide", { n: n++ });
  expect((await stagesOf(plain.job_id)).tiles).toMatchObject({
    max_parallel: 4,
    max_attempts: 2,
    retry: { base_s: 5 },
    budget_percent: 10,
  });
});

test("more than the blueprint allows is refused with what it allows, all at once, and nothing is submitted", async () => {
  const stage_options = {
    list: { max_attempts: 9 },
    tiles: { max_parallel: 17, failure_budget: { percent: 31 }, retry: { attempts: 7 } },
    sum: { max_parallel: 3, failure_budget: { count: 1 } },
    tils: { max_parallel: 1 },
  };
  const parameters = { n: n++ };
  const body = { parameters, stage_options };
  const refused = await service.call("POST", "/api/jobs/submit/wide", { body });
  expect(refused.status).toBe(400);
  const told = refused.body.problems.map(({ path, fix }: { path: string; fix: string }) => [
    path.split("stage_options.")[1],
    fix,
  ]);
  expect(told.sort()).toEqual([
    ["list", "leave it out"],
    ["sum.failure_budget", "none: each of its tasks counts"],
    ["sum.max_parallel", "at most 2"],
    ["tiles.failure_budget", 'at most {"percent": 30}'],
    ["tiles.max_parallel", "at most 16"],
    ["tiles.retry.attempts", "at most 6"],
    ["tils", "its stages: list, tiles, sum"],
  ]);
  const dry = await service.call("POST", "/api/jobs/submit/wide", { body: { ...body, dry_run: true } });
  expect([dry.status, dry.body.problems.length]).toEqual([400, 7]);
  // A budget in another unit cannot be compared.
  const other = await service.call("POST", "/api/jobs/submit/wide", {
    body: { parameters, stage_options: { tiles: { failure_budget: { count: 1 } } } },
  });
  expect(other.body.problems[0].fix).toBe('at most {"percent": 30}');
  // What is said of all stages does not go round a stage's own limit.
  const all = await service.call("POST", "/api/jobs/submit/wide", { body: { parameters, retry: { attempts: 7 } } });
  expect(all.body.problems).toMatchObject([{ problem: 'more than stage "tiles" allows' }]);
  expect(
    await service.db.sql`select from app.jobs where parameters = ${JSON.stringify(parameters)}::text::jsonb`,
  ).toEqual([]);
});

test("from psql, and from the command line", async () => {
  await service.db.sql`select app.register_blueprints(${JSON.stringify([job.blueprint])}::text::jsonb)`;
  const [row] = await service.db.sql<{ reply: { job_id: string } }>`
    select app.submit('wide', '{"n": "psql"}', options => '{"stage_options": {"tiles": {"max_parallel": 3}}}') as reply`;
  expect((await stagesOf(row!.reply.job_id)).tiles).toMatchObject({ max_parallel: 3 });
  await expect(
    service.db
      .sql`select app.submit('wide', '{"n": "bad"}', options => '{"stage_options": {"tiles": {"max_parallel": "many", "speed": 1, "failure_budget": {"count": 1, "percent": 1}}, "sum": 7}}')`,
  ).rejects.toThrow("4 problem(s)");
  const env = { DATABASE_URL: service.database_url };
  const settings = ["greeting.max_parallel=2", "greeting.failure_budget.count=0", "greeting.retry.base_s=2"];
  const line = settings.flatMap((setting) => ["--stage-option", setting]);
  const said = await fanfold(["submit", "hello_world", "n=77", ...line, "--json"], { env });
  expect((await stagesOf(said.json().job_id)).greeting).toMatchObject({ max_parallel: 2, retry: { base_s: 2 } });
  const wrong = await fanfold(
    ["submit", "hello_world", "n=78", "--stage-option", "greet=2", "--stage-option", "greet.max_parallel=0"],
    { env },
  );
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain("is not stage.setting=number");
  expect(wrong.err).toContain("greet.max_parallel");
});

test("a declaration that cannot be meant says so", () => {
  const wrong = (overrides: unknown) => () =>
    createRegistry({
      jobs: [defineJob({ type: "j", stages: [{ name: "a", task: "t.list", overrides: overrides as never }] })],
      handlers: [defineHandler("t.list", {}, () => null)],
    });
  expect(wrong("all")).toThrow("must say how much a submit may ask for");
  expect(wrong({ max_paralel: 1 })).toThrow("max_paralel");
  expect(wrong({ failure_budget: { percent: 101 } })).toThrow("from 0 to 100");
  expect(wrong(false)).not.toThrow();
});
