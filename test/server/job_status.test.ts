// What the page of a job reads: edges, budgets and rates of its stages, its failures in groups however many there are, and its story
// from either end.
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { openService, type TestService } from "./service.js";

let service: TestService;

beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "diamond",
        stages: [
          { name: "list", task: "t.say" },
          {
            name: "tiles",
            task: "t.maybe",
            parallelism: "fan_out",
            max_attempts: 1,
            max_parallel: 50,
            timeout_s: 60,
            tasks: { count: "{parameters.n}", parameters: { number: "{ordinal}" } },
            failure_budget: { percent: 50 },
          },
          { name: "stats", task: "t.say", after: ["list"], when: "$.parameters.stats", importance: "optional" },
          { name: "fold", task: "t.say", parallelism: "fan_in", after: ["tiles", "stats"], of: "tiles" },
        ],
      }),
      defineJob({ type: "never", stages: [{ name: "wait", task: "t.never" }] }),
    ],
    handlers: [
      defineHandler("t.say", {}, () => ({ said: true })),
      defineHandler("t.maybe", {}, (parameters) => {
        const { number } = parameters as unknown as { number: number };
        if (number % 4 === 1) throw new Permanent(`no tile ${number}`, { code: "no_tile" });
        return { number };
      }),
      defineHandler("t.never", {}, () => null),
    ],
  });
  await service.worker({ types: ["t.say", "t.maybe"] });
});
afterAll(() => service.close());

const get = async (path: string) => (await service.call("GET", path)).body;
async function submit(type: string, body: unknown): Promise<string> {
  return (await service.call("POST", `/api/jobs/submit/${type}`, { body })).body.job_id;
}

test("a job's status tells which stage waits for which, its condition, its budget and its limits", async () => {
  const job_id = await submit("diamond", { n: 8 });
  const { stages, status } = await get(`/api/jobs/status/${job_id}?wait=true`);
  expect(status).toBe("partial_success");
  const [list, tiles, stats, fold] = stages;
  expect(list).toMatchObject({
    after: [],
    of: null,
    when: null,
    budget: null,
    max_attempts: null,
    retry: null,
    next_retry: null,
  });
  expect(tiles).toMatchObject({
    after: [1],
    of: 1,
    max_parallel: 50,
    max_attempts: 1,
    timeout_s: 60,
    total: 8,
    failed: 2,
    budget: { count: null, percent: 50, allowed: 4 },
  });
  expect(stats).toMatchObject({
    after: [1],
    when: { path: "$.parameters.stats" },
    status: "skipped",
    skip_reason: "when",
  });
  expect(fold).toMatchObject({ after: [2, 3], of: 2 });
});

test("a running stage tells its rate and what is left at that rate; one that is paused or has ended does not", async () => {
  const job_id = await submit("never", { n: 1 });
  const { db } = service;
  const [{ stage_id }] = (await db.sql`select stage_id from app.stages where job_id = ${job_id}`) as [
    { stage_id: number },
  ];
  await db.sql`update app.stages set total = 100 where stage_id = ${stage_id}`;
  await db.sql`update app.stage_progress set total = 100, completed = 60, remaining = 40 where stage_id = ${stage_id}`;
  await db.sql`insert into app.results (stage_id, ordinal, status, tenant_id, finished_at)
    select ${stage_id}, g, 'completed', 'default', now() - make_interval(secs => 60 - g) from generate_series(1, 60) g`;
  const [stage] = (await get(`/api/jobs/${job_id}`)).stages;
  // One a second: what the clock adds between two statements is all that may differ.
  expect(stage.rate_per_s).toBeGreaterThan(0.2);
  expect(stage.rate_per_s).toBeLessThan(1.1);
  expect(stage.eta_s).toBe(Math.ceil(Math.round((40 / stage.rate_per_s) * 10) / 10));
  await service.call("POST", `/api/jobs/${job_id}/pause`);
  expect((await get(`/api/jobs/${job_id}`)).stages[0]).toMatchObject({ rate_per_s: null, eta_s: null });
  await service.call("POST", `/api/jobs/${job_id}/cancel`, { body: { actor: "ada" } });
  const ended = await get(`/api/jobs/${job_id}`);
  expect(ended.stages[0]).toMatchObject({ rate_per_s: null, eta_s: null });
  expect(ended.cancelled_by).toMatch(/\(ada\)$/);
});

test("of many failures both ends are looked at, and it is told how many there are", async () => {
  const job_id = await submit("diamond", { n: 2 });
  await get(`/api/jobs/status/${job_id}?wait=true`);
  const { db } = service;
  const [{ stage_id }] = (await db.sql`
    select stage_id from app.stages where job_id = ${job_id} and name = 'tiles'`) as [{ stage_id: number }];
  await db.sql`delete from app.results where stage_id = ${stage_id}`;
  await db.sql`insert into app.results (stage_id, ordinal, status, tenant_id, error)
    select ${stage_id}, g, 'failed', 'default', jsonb_build_object('category', 'permanent', 'code', 'no_tile',
        'signature', case when g >= 20000 then 'full' else 'tile' end,
        'message', case when g >= 20000 then 'the disk is full' else 'no tile ' || g end)
      from generate_series(0, 20999) g`;
  await db.sql`update app.stage_progress set total = 21000, completed = 0, failed = 21000 where stage_id = ${stage_id}`;
  const { failed, looked_at, group_count, groups } = await get(`/api/jobs/${job_id}/errors`);
  expect([failed, looked_at, group_count]).toEqual([21_000, 20_000, 2]);
  expect(
    groups.map(({ message, tasks, stages, task_ids }: Record<string, unknown>) => [message, tasks, stages, task_ids]),
  ).toEqual([
    ["no tile <n>", 19_000, ["tiles"], [0, 1, 2, 3, 4].map((n) => `${stage_id}-${n}`)],
    ["the disk is full", 1_000, ["tiles"], [0, 1, 2, 3, 4].map((n) => `${stage_id}-${20_000 + n}`)],
  ]);
  // A dry run tells of no more than was looked at, and says so.
  const { body } = await service.call("POST", `/api/jobs/${job_id}/retry-group`, {
    body: { signature: groups[0].signature, dry_run: true },
  });
  expect(body).toMatchObject({ again: 19_000, at_least: true });
  const retried = await service.call("POST", `/api/jobs/${job_id}/retry-group`, {
    body: { signature: groups[0].signature },
  });
  expect(retried.body, "the run itself takes all of them").toMatchObject({ again: 20_000, at_least: false });
});

test("a job without failures has no groups", async () => {
  const job_id = await submit("never", { n: 2 });
  expect(await get(`/api/jobs/${job_id}/errors`)).toEqual({
    job_id,
    failed: 0,
    looked_at: 0,
    group_count: 0,
    groups: [],
  });
});

test("the story is told from either end, page by page, and by kinds", async () => {
  const job_id = await submit("diamond", { n: 4 });
  await get(`/api/jobs/status/${job_id}?wait=true`);
  const ids = (page: { events: { event_id: number }[] }) => page.events.map(({ event_id }) => event_id);
  const all = ids(await get(`/api/jobs/${job_id}/events?limit=1000`));
  expect(all.length).toBeGreaterThan(4);
  const newest: number[] = [];
  for (let cursor = ""; ; ) {
    const page = await get(`/api/jobs/${job_id}/events?order=newest&limit=3${cursor}`);
    newest.push(...ids(page));
    if (page.next === null) break;
    cursor = `&cursor=${page.next}`;
  }
  expect(newest).toEqual(all.toReversed());
  const stages = await get(`/api/jobs/${job_id}/events?kind=stage&order=newest`);
  expect(new Set(stages.events.map(({ kind }: { kind: string }) => kind.split(".")[0]))).toEqual(new Set(["stage"]));
  const some = await get(`/api/jobs/${job_id}/events?kind=job.submitted,stage.skipped`);
  expect(some.events.map(({ kind }: { kind: string }) => kind)).toEqual(["job.submitted", "stage.skipped"]);
  expect((await service.call("GET", `/api/jobs/${job_id}/events?kind=Not%20a%20kind`)).status).toBe(400);
});

test("rare kinds among many events are found by turning pages that may be empty", async () => {
  const job_id = await submit("never", { n: 3 });
  await service.db.sql`insert into app.events (tenant_id, job_id, kind)
    select 'default', ${job_id}, 'task.skipped' from generate_series(1, 6000)`;
  const first = await get(`/api/jobs/${job_id}/events?kind=job.submitted&order=newest`);
  expect(first.events).toEqual([]);
  expect(first.next).not.toBeNull();
  const second = await get(`/api/jobs/${job_id}/events?kind=job.submitted&order=newest&cursor=${first.next}`);
  expect(second.events).toHaveLength(1);
  expect(second.next).toBeNull();
});
