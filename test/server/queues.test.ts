// What an operator sees of workers, queues, the janitor and the whole, over HTTP with real workers.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { Janitor } from "../../src/engine/upkeep/janitor.js";
import { openService, type TestService } from "./service.js";

/** Tasks of t.held run until they are let go. */
let letGo: () => void = () => {};
let held = new Promise<void>((resolve) => {
  letGo = resolve;
});

const served = ["t.quick", "t.held", "#plan"];

let service: TestService;
let operator: string;
let rival: string;

beforeAll(async () => {
  service = await openService({
    handlers: [
      defineHandler("t.quick", {}, async () => ({})),
      defineHandler("t.breaks", {}, async () => {
        throw new Permanent("made to fail");
      }),
      defineHandler("t.nobody", {}, () => null),
      defineHandler("t.held", {}, async (_, ctx) => {
        ctx.progress({ done: 3, total: 10 });
        await held;
        return {};
      }),
    ],
    jobs: [
      defineJob({
        type: "many",
        stages: [{ name: "quick", task: "t.quick", tasks: { count: 20 } }],
      }),
      defineJob({
        type: "held",
        stages: [{ name: "hold", task: "t.held", tasks: { count: 3 } }],
      }),
      defineJob({ type: "lonely", stages: [{ name: "odd", task: "t.nobody" }] }),
    ],
  });
  operator = await service.key("default", ["read", "admin"], { operator: true });
  rival = await service.key("rival");
});
afterAll(() => {
  letGo();
  return service.close();
});

const get = async (path: string, key?: string) => {
  const { status, body } = await service.call("GET", path, key === undefined ? {} : { key });
  expect([path, status, body]).toEqual([path, 200, body]);
  return body;
};
const sweep = async () => {
  await service.db.sql`update app.janitor set last_run_at = null`;
  await service.db.sql`update app.rate_samples set sampled_at = sampled_at - interval '1 hour'`;
  return new Janitor({ db: service.engine.db, log: service.engine.log }).sweep();
};
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
const queue = async (task_type: string, key?: string): Promise<any> =>
  (await get("/api/queues", key)).queues.find((one: { task_type: string }) => one.task_type === task_type);

test("a queue tells who serves it and why nothing is taken, and once it ran how much ended in which minute", async () => {
  expect(await get("/api/queues")).toEqual({ queues: [], more: false });
  const { engine } = service;
  await engine.submit("many", {});
  await engine.submit("lonely", {});
  await engine.enqueueMany("t.breaks", [{ parameters: {} }, { parameters: { n: 1 } }]);
  expect(await queue("t.quick")).toMatchObject({
    due: 20,
    workers: 0,
    history: null,
    oldest_at: expect.any(String),
    oldest_job_id: expect.any(String),
    problem: { code: "NO_WORKER_FOR_TYPE", reason: "no worker is live", command: "fanfold up" },
  });
  const worker = await service.worker({ slots: 4, types: [...served, "t.breaks"] });
  await worker.idle();
  await sweep();
  const { queues } = await get("/api/queues");
  expect(queues.map((one: { task_type: string }) => one.task_type)).toEqual(["t.nobody", "t.breaks", "t.quick"]);
  const [nobody, breaks, quick] = queues;
  expect(nobody).toMatchObject({ due: 1, problem: { reason: expect.stringContaining("no live worker registers it") } });
  expect(breaks.history.failed.reduce((sum: number, n: number) => sum + n)).toBe(2);
  expect(quick).toMatchObject({
    due: 0,
    running: 0,
    workers: 1,
    slots: 4,
    problem: null,
  });
  expect(quick.history.completed).toHaveLength(60);
  expect(quick.history.completed.reduce((sum: number, n: number) => sum + n)).toBe(20);
  expect(quick.per_minute.completed).toBeGreaterThan(3);
  expect(await get("/api/queues", rival)).toEqual({ queues: [], more: false });
  expect((await service.call("GET", "/api/queues?minutes=2000")).status).toBe(400);
  await worker.stop();
});

test("a paused queue says by whom and why, and comes first", async () => {
  await service.call("POST", "/api/task-types/t.quick/pause", { body: { reason: "the disk is full", actor: "ada" } });
  const [first, second] = (await get("/api/queues")).queues;
  expect([first.task_type, second.task_type].sort()).toEqual(["t.nobody", "t.quick"]);
  expect(await queue("t.quick")).toMatchObject({
    paused: { by: expect.stringContaining("ada"), reason: "the disk is full" },
    problem: { code: "QUEUE_PAUSED", command: "fanfold continue --type t.quick" },
  });
  await service.call("POST", "/api/task-types/t.quick/continue", { body: {} });
  expect(await queue("t.quick")).toMatchObject({ paused: null, problem: null });
});

test("a worker that drains says so, with what it still runs; then it is gone, and told for an hour", async () => {
  const worker = await service.worker({ slots: 2, lease_s: 3, types: served });
  const { job_id } = await service.engine.submit("held", {});
  const own = () =>
    get("/api/workers").then(({ workers }) =>
      workers.find((w: { worker_id: string }) => w.worker_id === worker.worker_id),
    );
  await vi.waitUntil(async () => (await own()).running === 2, { timeout: 30_000 });
  expect(await own()).toMatchObject({
    slots: 2,
    held: 2,
    draining_at: null,
    lease_s: 3,
    shared: true,
    rss_mb: null,
    held_by_others: null,
  });
  const tasks = await get(`/api/workers/${worker.worker_id}/tasks`);
  expect(tasks).toMatchObject({ held: 2, more: false });
  expect(tasks.tasks.map((task: { running: boolean }) => task.running)).toEqual([true, true]);
  expect(tasks.tasks[0]).toMatchObject({
    job_id,
    job_type: "held",
    stage: "hold",
    task_type: "t.held",
    attempt: 1,
    planning: false,
    started_at: expect.any(String),
    task_id: expect.stringMatching(/^\d+-\d$/),
    progress: { done: 3, total: 10 },
  });
  expect(await get(`/api/workers/${worker.worker_id}/tasks?limit=1`)).toMatchObject({
    held: 2,
    more: true,
    tasks: [{ running: true }],
  });
  // Whoever runs the service may know more of a worker that serves all; another tenant learns nothing of this one's tasks.
  const seen = (await get("/api/workers", operator)).workers.at(-1);
  expect(seen).toMatchObject({ host: expect.any(String), rss_mb: expect.any(Number), held_by_others: 0, running: 2 });
  expect(await get(`/api/workers/${worker.worker_id}/tasks`, rival)).toMatchObject({ held: 0, tasks: [] });
  expect((await get("/api/workers", rival)).workers.at(-1)).toMatchObject({
    held: 0,
    running: 0,
    host: null,
    rss_mb: null,
  });

  const stopped = worker.stop();
  await vi.waitUntil(async () => (await own()).draining_at !== null, { timeout: 30_000 });
  expect(await own()).toMatchObject({ status: "live", held: 2 });
  expect(await queue("t.held")).toMatchObject({ due: 1, workers: 0, problem: { code: "NO_WORKER_FOR_TYPE" } });
  letGo();
  await stopped;
  expect((await get("/api/workers")).gone[0]).toMatchObject({
    worker_id: worker.worker_id,
    status: "stopped",
    shared: true,
    host: null,
    went_back: 0,
  });
  held = Promise.resolve();
});

test("of a worker that stopped answering it is told how many tasks went back, to each tenant its own", async () => {
  const { db, engine } = service;
  const mine = await engine.work.register({ types: ["t.nobody"], slots: 1, lease_s: 30 });
  const claimed = await engine.work.claim(mine.worker_id, { limit: 10, known_stages: [] });
  expect(claimed.tasks).toHaveLength(1);
  expect(await get(`/api/workers/${mine.worker_id}/tasks`)).toMatchObject({
    held: 1,
    tasks: [{ running: false, started_at: null, progress: null, claimed_at: expect.any(String), stage: "odd" }],
  });
  await db.sql`update app.workers set tenant_id = null, heartbeat_at = now() - interval '1 hour', started_at = now() - interval '2 hours'
    where worker_id = ${mine.worker_id}::text::uuid`;
  expect((await get("/api/workers")).workers).toMatchObject([{ worker_id: mine.worker_id, status: "silent", held: 1 }]);
  await sweep();
  expect((await get("/api/workers")).gone[0]).toMatchObject({
    worker_id: mine.worker_id,
    status: "lost",
    went_back: 1,
  });
  expect((await get("/api/workers", rival)).gone[0]).toMatchObject({ worker_id: mine.worker_id, went_back: 0 });
  expect((await get("/api/workers", operator)).gone[0]).toMatchObject({ went_back: 1 });
  await db.sql`update app.workers set tenant_id = 'default' where worker_id = ${mine.worker_id}::text::uuid`;
  expect((await service.call("GET", `/api/workers/${mine.worker_id}/tasks`, { key: rival })).status).toBe(404);
});

test("the janitor's actions and the alerts come in pages, to each tenant its own", async () => {
  const janitor = await get("/api/janitor");
  expect(janitor).toMatchObject({
    late: false,
    failing: false,
    last_error: null,
    last_success_at: expect.any(String),
    next: null,
    actions: [
      {
        action: "took_back",
        target: expect.stringMatching(/^worker /),
        reason: "its lease was over",
        data: { tasks: 1, stage: "odd" },
      },
    ],
  });
  expect(await get("/api/janitor", rival)).toMatchObject({ actions: [], next: null });
  await service.db.sql`
    insert into app.events (tenant_id, kind, reason, data)
    select 'default', k || n, 'number ' || n, '{}' from generate_series(1, 5) n, (values ('alert.odd_'), ('janitor.odd_')) v(k)`;
  for (const [path, list, name] of [
    ["/api/alerts", "alerts", "alert"],
    ["/api/janitor", "actions", "action"],
  ] as const) {
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: Record<string, unknown> & { next: string | null } = await get(
        `${path}?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      const rows = page[list] as Record<string, string>[];
      expect(rows.length).toBeLessThanOrEqual(2);
      seen.push(...rows.map((row) => row[name] as string));
      cursor = page.next;
    }
    expect(seen.slice(0, 5)).toEqual(["odd_5", "odd_4", "odd_3", "odd_2", "odd_1"]);
    expect(new Set(seen).size).toBe(seen.length);
  }
  await service.db.sql`update app.janitor set last_error = 'the stage of acme is odd'`;
  expect(await get("/api/janitor")).toMatchObject({ failing: true, last_error: null });
  expect(await get("/api/janitor", operator)).toMatchObject({ failing: true, last_error: "the stage of acme is odd" });
});

test("the vitals of the service are for whoever runs it", async () => {
  expect((await service.call("GET", "/api/vitals")).status).toBe(403);
  const vitals = await get("/api/vitals", operator);
  expect(vitals).toMatchObject({
    version: expect.any(String),
    pool: { most: 4, waiting: 0 },
    schema: { pending: [] },
    database: { kind: "server", connections: expect.any(Number), deadlocks: 0, dead_tuples: expect.any(Number) },
    tenants: [{ tenant_id: "default" }],
  });
  expect(vitals.database.tables.map(({ table }: { table: string }) => table)).toContain("results");
  expect(vitals.history.at(-1)).toMatchObject({ size_bytes: expect.any(Number), claimed: expect.any(Number) });
});

test("an autoscaler is told how many workers the work would keep busy: of some types, of one tenant or of all", async () => {
  const key = await service.key("scaled");
  const ask = (query: string, key_of = key) => service.call("GET", `/api/queues/demand${query}`, { key: key_of });
  expect(await ask("?types=t.nobody")).toMatchObject({
    status: 200,
    body: { due: 0, running: 0, slots: 0, wanted_workers: 0 },
  });
  for (let n = 0; n < 9; n++) {
    await service.call("POST", "/api/tasks/enqueue/t.nobody", {
      key,
      body: { parameters: { n }, ...(n > 6 && { delay_s: 600 }) },
    });
  }
  expect((await ask("?types=t.*&slots=4")).body).toMatchObject({ due: 7, running: 0, wanted_workers: 2 });
  expect((await ask("?types=x.*,t.nobody&slots=1")).body).toMatchObject({ due: 7, wanted_workers: 7 });
  expect((await ask("?types=x.*")).body.wanted_workers).toBe(0);
  await service.call("POST", "/api/task-types/t.nobody/pause", { key, body: {} });
  expect((await ask("?types=t.nobody")).body).toMatchObject({ due: 0, wanted_workers: 0 });
  expect(await ask("?everybody=true")).toMatchObject({ status: 403 });
  await service.call("POST", "/api/task-types/t.nobody/continue", { key, body: {} });
  expect((await ask("?everybody=true&types=t.nobody", operator)).body.due).toBeGreaterThanOrEqual(7);
  expect(await ask("?slots=0")).toMatchObject({ status: 400 });
});
