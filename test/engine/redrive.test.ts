// Failed tasks that fit a filter run again, now or later: of jobs and alone, in pages, counted first; nothing of another tenant's, nothing twice.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { redrive } from "../../src/engine/verbs/redrive.js";
import { fanfold } from "../cli/fake_terminal.js";
import { openService, type TestService } from "../server/service.js";

let service: TestService;
const broken = new Set(["no such file", "no such band"]);
const runs = new Map<string, number>();

const handler = (type: string) =>
  defineHandler(type, {}, async (parameters, ctx) => {
    runs.set(`${type} ${ctx.index}`, (runs.get(`${type} ${ctx.index}`) ?? 0) + 1);
    const why = parameters.why ?? ["fine", "no such file", "no such band", "fine"][ctx.ordinal];
    if (broken.has(why)) throw new Permanent(why);
    return null;
  });
const wide = (type: string, task: string) =>
  defineJob({
    type,
    stages: [{ name: "tiles", task, tasks: { count: 4 }, failure_budget: { count: 3 } }],
  });

beforeAll(async () => {
  service = await openService({
    jobs: [wide("maps", "t.tile"), wide("plots", "t.plot")],
    handlers: [handler("t.tile"), handler("t.plot"), handler("t.lone")],
  });
  await service.worker();
});
afterAll(() => service.close());

const status = async (job_id: string) => (await service.engine.status(job_id)).status;
const failedIn = async () =>
  Number((await service.db.sql<{ n: string }>`select count(*) as n from app.results where status = 'failed'`)[0]!.n);

test("only what fits runs again, in bounded pages, and what follows is counted first", async () => {
  const client = createClient({ url: service.url, key: await service.key() });
  const ids: string[] = [];
  for (const type of ["maps", "maps", "plots"]) ids.push((await client.submit(type, { n: ids.length })).job_id);
  for (const why of ["no such file", "no such band", "fine"]) await client.enqueue("t.lone", { why });
  for (const id of ids) await expect.poll(() => status(id), { timeout: 20_000 }).toBe("partial_success");
  await expect.poll(failedIn).toBe(8);
  const groups = await client.errors(ids[0]!);
  const signature = groups.find(({ sample }) => sample === "no such file")!.signature;

  const count = async (filter: object) => (await client.redrive({ filter, dry_run: true })).tasks;
  expect(await count({})).toBe(8);
  expect(await count({ task_type: "t.tile" })).toBe(4);
  expect(await count({ job_type: "plots" })).toBe(2);
  expect(await count({ signature })).toBe(4);
  expect(await count({ signature, job_type: "maps" })).toBe(2);
  expect(await count({ failed_before: "2020-01-01T00:00:00Z" })).toBe(0);
  expect(await count({ failed_after: "2020-01-01T00:00:00Z", task_type: "t.lone" })).toBe(2);
  expect(await failedIn()).toBe(8);

  for (const body of [
    {},
    { filter: { task_type: "t.tile" }, cursor: "jobs:x" },
    { filter: { task_type: "t.tile" }, cursor: "x", before: "2030-01-01T00:00:00Z" },
  ])
    expect((await service.call("POST", "/api/tasks/redrive", { body })).status).toBe(400);
  const other = await service.call("POST", "/api/tasks/redrive", {
    key: await service.key("other"),
    body: { filter: { task_type: "t.tile" } },
  });
  expect(other.body).toMatchObject({ tasks: 0, jobs: 0, next: null });

  // One error of one task type is mended: only its tasks run, each once more.
  broken.delete("no such file");
  const done = await client.redrive({
    filter: { signature, task_type: "t.tile" },
    reason: "the files are there",
  });
  expect(done).toMatchObject({ dry_run: false, tasks: 2, jobs: 2, next: null });
  for (const id of ids.slice(0, 2))
    await expect
      .poll(() => service.engine.status(id).then(({ epoch, status }) => [epoch, status]))
      .toEqual([2, "partial_success"]);
  expect([runs.get("t.tile 1"), runs.get("t.tile 2"), runs.get("t.plot 1")]).toEqual([4, 2, 1]);
  const { tasks } = await client.redrive({ filter: { signature, task_type: "t.tile" } });
  expect(tasks).toBe(0);
  expect(
    await service.db.sql`select from app.events where kind = 'job.retried' and reason = 'the files are there'`,
  ).toHaveLength(2);
});

test("later: nothing is claimed before its time, the deadline waits too, and what fails again is not taken twice", async () => {
  const run_at = new Date(Date.now() + 3_600_000).toISOString();
  const { tasks, jobs } = await redrive(service.engine, { filter: { task_type: "t.plot" }, run_at });
  expect([tasks, jobs]).toEqual([2, 1]);
  const rows = await service.db.sql<{ run_at: Date; turn: string; late: boolean }>`
    select r.turn::text, r.run_at > now() + interval '50 minutes' as late from app.ready r where r.task_type = 't.plot'`;
  expect(rows.every(({ late, turn }) => late && turn === "-1")).toBe(true);
  const [job] = await service.db.sql<{
    late: boolean;
  }>`select deadline_at > ${run_at}::timestamptz as late from app.jobs where job_type = 'plots'`;
  expect(job).toEqual({ late: true });
  await service.db.sql`update app.ready set run_at = now() where task_type = 't.plot'`;
  await expect
    .poll(
      async () =>
        (await service.db.sql`select from app.jobs where job_type = 'plots' and status = 'partial_success'`).length,
    )
    .toBe(1);
  // Alone: one of the two is still broken, and fails after `before`.
  const before = new Date(Date.now() + 1).toISOString();
  const first = await redrive(service.engine, { filter: { task_type: "t.lone" } });
  expect(first).toMatchObject({ tasks: 2, jobs: 0, next: null });
  await expect
    .poll(
      async () =>
        (
          await service.db
            .sql`select from app.results r join app.stages s using (stage_id) where s.task_type = 't.lone' and r.status = 'failed'`
        ).length,
    )
    .toBe(1);
  expect((await redrive(service.engine, { filter: { task_type: "t.lone" }, before })).tasks).toBe(0);
});

test("at the command line", async () => {
  const env = { DATABASE_URL: service.database_url };
  const dry = await fanfold(["tasks", "redrive", "--type", "t.tile", "--dry-run"], { env });
  expect(dry.out).toContain("2 tasks would run again, of 2 jobs and alone");
  broken.clear();
  const said = await fanfold(["tasks", "redrive", "--job-type", "maps", "--reason", "mended", "--json"], { env });
  expect(said.json()).toMatchObject({ tasks: 2, jobs: 2, next: null });
  await expect
    .poll(
      async () => (await service.db.sql`select from app.jobs where job_type = 'maps' and status = 'completed'`).length,
    )
    .toBe(2);
  const wrong = await fanfold(["tasks", "redrive", "--at", "soon"], { env });
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain("has no filter");
  expect(wrong.err).toContain("--at");
});

test("pages go on where the one before ended, and two at once take nothing twice", async () => {
  const { db } = service;
  await db.sql`select app.create_tenant('pages')`;
  await db.sql`select app.enqueue_alike('t.none', ${JSON.stringify(Array.from({ length: 25 }, () => ({})))}, 'pages')`;
  await db.sql`
    with gone as (delete from app.ready where task_type = 't.none' returning stage_id)
    insert into app.results (stage_id, ordinal, status, tenant_id, error)
    select t.stage_id, t.ordinal, 'failed', 'pages', '{"message": "no"}' from app.tasks t where t.stage_id in (select stage_id from gone)`;
  const page = async (cursor: string | null, dry: boolean) =>
    (
      await db.sql<{ reply: { again: number; next: string | null } }>`
      select app.redrive_lone('{"task_type": "t.none"}', cursor => ${cursor}, page_rows => 10, dry_run => ${dry}::boolean, tenant => 'pages') as reply`
    )[0]!.reply;
  let looked = 0;
  let next: string | null = null;
  do {
    const found = await page(next, true);
    looked += found.again;
    next = found.next;
  } while (next !== null);
  expect(looked).toBe(25);
  const both = await Promise.all([page(null, false), page(null, false)]);
  expect(both[0]!.again + both[1]!.again).toBeLessThanOrEqual(20);
  const [queued] = await db.sql<{
    n: string;
  }>`select sum(hi - lo)::text as n from app.ready where task_type = 't.none'`;
  expect(Number(queued!.n)).toBe(both[0]!.again + both[1]!.again);
});
