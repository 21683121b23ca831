// A task looked at closely, and a job over time: numbers stay as stored, logs come page by page, what a task came from and led to is
// told, and a timeline shows what there is without reading more than it may.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Throttled } from "../../src/core/errors/errors.js";
import { claim, finish, register } from "../engine/floor.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let job_id: string;
let failed_once = false;

beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "tiles",
        stages: [
          {
            name: "cut",
            task: "t.cut",
            tasks: { count: 6, index: "tile-{ordinal}", parameters: { n: "{ordinal}" } },
            failure_budget: { count: 2 },
          },
          { name: "polish", task: "t.polish", parallelism: "match_previous" },
          { name: "pack", task: "t.pack", parallelism: "fan_in", batch: 4 },
          {
            name: "spread",
            task: "t.polish",
            parallelism: "fan_out",
            tasks: { each: "$.boxes[*]", parent: "{item.of}" },
          },
          { name: "join", task: "t.pack", parallelism: "fan_in" },
        ],
      }),
      defineJob({ type: "wide", stages: [{ name: "only", task: "t.never" }] }),
    ],
    handlers: [
      defineHandler("t.cut", {}, ({ n }, ctx) => {
        ctx.log.info(`cutting ${n}`);
        if (n === 5) throw new Permanent("cracked", { code: "cracked" });
        if (n === 3 && !failed_once) {
          failed_once = true;
          throw new Throttled(0.05, "not so fast");
        }
        return { n };
      }),
      defineHandler("t.polish", {}, () => ({ shiny: true })),
      defineHandler("t.pack", {}, (_, { index }) => ({ boxes: [{ of: index }, { of: index }] })),
      defineHandler("t.large", {}, () => "x".repeat(1_200_000)),
      defineHandler("t.never", {}, () => null),
      defineHandler("t.held", {}, () => null),
    ],
  });
  await service.worker({ types: ["t.cut", "t.polish", "t.pack", "t.large", "#plan"] });
  ({ job_id } = await service.engine.submit("tiles", {}));
  await service.engine.wait(job_id);
});
afterAll(() => service.close());

const get = async (path: string) => (await service.call("GET", path)).body;
async function text(path: string): Promise<string> {
  const headers = { authorization: `Bearer ${await service.key()}` };
  return (await fetch(service.url + path, { headers })).text();
}
async function taskOf(stage: string, index: string): Promise<string> {
  const { tasks } = await get(`/api/jobs/${job_id}/tasks?stage=${stage}`);
  return tasks.find((task: { index: string }) => task.index === index).task_id;
}

describe("values", () => {
  const stored = '{"id": 12345678901234567890, "share": 0.1000000000000000055, "huge": 1e400, "text": "a\\u0007b"}';
  let task_id: string;

  beforeAll(async () => {
    ({ task_id } = await service.engine.enqueue("t.never", {}));
    const [stage, ordinal] = task_id.split("-").map(Number) as [number, number];
    await service.db
      .sql`update app.tasks set parameters = ${stored}::text::jsonb where stage_id = ${stage} and ordinal = ${ordinal}`;
  });

  test("keep every digit that is stored", async () => {
    for (const whole of [
      await text(`/api/tasks/${task_id}`),
      await text(`/api/tasks/${task_id}/value?of=parameters`),
    ]) {
      expect(whole).toMatch(/"id": ?12345678901234567890\b/);
      expect(whole).toMatch(/"share": ?0\.1000000000000000055\b/);
      expect(whole).toMatch(/"huge": ?10{400}\b/);
    }
    const { headers } = await service.call("GET", `/api/tasks/${task_id}/value?of=parameters`);
    expect(headers.get("content-disposition")).toBe(`attachment; filename="task-${task_id}-parameters.json"`);
  });

  test("that are larger than wanted are left out and named", async () => {
    const { parameters, left_out, bytes } = await get(`/api/tasks/${task_id}?largest=100`);
    expect([parameters, left_out]).toEqual([null, ["parameters"]]);
    expect(bytes.parameters).toBeGreaterThan(100);
    expect((await get(`/api/tasks/${task_id}?largest=1000`)).left_out).toEqual([]);
  });

  test("that there are not are not found", async () => {
    const { status, body } = await service.call("GET", `/api/tasks/${task_id}/value?of=result`);
    expect([status, body.detail]).toEqual([404, `task "${task_id}" has no result`]);
  });

  test("that went to storage come from there", async () => {
    const { task_id: large } = await service.engine.enqueue("t.large", {});
    await expect.poll(async () => (await get(`/api/tasks/${large}`)).status).toBe("completed");
    const { result, spill, bytes } = await get(`/api/tasks/${large}`);
    expect([result, bytes.result]).toEqual([null, spill.bytes]);
    expect(JSON.parse(await text(`/api/tasks/${large}/value?of=result`))).toBe("x".repeat(1_200_000));
  });
});

describe("attempts", () => {
  test("tell when they began, who made them and when the next was due", async () => {
    const task = await get(`/api/tasks/${await taskOf("cut", "tile-3")}`);
    expect(task).toMatchObject({
      status: "completed",
      max_attempts: null,
      retry: null,
      stage_number: 1,
      running: null,
      attempts_left_out: 0,
    });
    const [first] = task.attempts;
    expect(first).toMatchObject({
      outcome: "failed",
      category: "throttled",
      code: "throttled",
      signature: expect.any(String),
    });
    expect(Date.parse(first.ended_at) - Date.parse(first.started_at)).toBe(first.duration_ms);
    expect(Date.parse(first.retry_at)).toBeGreaterThan(Date.parse(first.ended_at));
    expect(task.worker).toMatchObject({
      worker_id: first.worker_id,
      shared: true,
      status: "live",
      host: null,
      pid: null,
    });
  });

  test("name the machine to whoever runs the service, and to nobody else", async () => {
    const path = `/api/tasks/${await taskOf("cut", "tile-3")}`;
    const key = await service.key("default", ["read"], { operator: true });
    const { body } = await service.call("GET", path, { key });
    expect(body.worker).toMatchObject({ host: expect.any(String), pid: process.pid });
    expect((await get(path)).worker.host).toBeNull();
  });

  test("show the one under way, and the late result that was refused", async () => {
    const { task_id } = await service.engine.enqueue("t.held", {});
    const { db } = service.engine;
    const [one, two] = [await register(db, ["t.held"]), await register(db, ["t.held"])];
    const [held] = await claim(db, one, ["t.held"]);
    expect((await get(`/api/tasks/${task_id}`)).running).toMatchObject({
      attempt: 1,
      claimed_at: expect.any(String),
      started_at: null,
      worker: { worker_id: one, status: "live" },
    });
    const { claim_id, stage_id, ordinal } = held!;
    const running = [{ claim_id, stage_id, ordinal, elapsed_s: 2, progress: { done: 1 } }];
    const beat = { worker_id: one, claims: [claim_id], running };
    await db.sql`select app.heartbeat(${JSON.stringify(beat)}::text::json)`;
    expect((await get(`/api/tasks/${task_id}`)).running).toMatchObject({
      elapsed_s: 2,
      progress: { done: 1 },
      started_at: expect.any(String),
    });
    // Its lease ends, another one takes the task, and the first comes back with a result.
    await service.db
      .sql`update app.workers set heartbeat_at = now() - interval '1 hour' where worker_id = ${one}::text::uuid`;
    await service.db.sql`select app.reap_workers()`;
    await claim(db, two, ["t.held"]);
    expect((await finish(db, one, [held!])).refused).toHaveLength(1);
    const task = await get(`/api/tasks/${task_id}`);
    expect(task.attempts).toMatchObject([
      { outcome: "lost", started_at: null, worker: { worker_id: one, status: "lost" } },
      { outcome: "refused", attempt: 1, message: "finished by a worker that no longer held it" },
    ]);
    expect(task.running.worker.worker_id).toBe(two);
  });
});

describe("logs", () => {
  let task_id: string;
  const logs = (query = "") => get(`/api/tasks/${task_id}/logs${query}`);
  const words = (page: { lines: { message: string }[] }) => page.lines.map(({ message }) => message);

  beforeAll(async () => {
    ({ task_id } = await service.engine.enqueue("t.never", {}));
    await write(1, 250);
  });

  async function write(from: number, to: number): Promise<void> {
    const [stage, ordinal] = task_id.split("-").map(Number) as [number, number];
    await service.db.sql`
      insert into app.task_logs (tenant_id, stage_id, ordinal, attempt, at, level, message, data)
      select 'default', ${stage}, ${ordinal}, case when n <= 100 then 1 else 2 end, now(),
        case when n % 50 = 0 then 'error' when n % 10 = 0 then 'warn' when n % 2 = 0 then 'info' else 'debug' end,
        'line ' || n, case when n = 123 then jsonb_build_object('needle', 12345678901234567890::numeric) end
        from generate_series(${from}::integer, ${to}::integer) n`;
  }

  test("come the newest first of all, and older and newer pages meet without a gap", async () => {
    const newest = await logs("?limit=100");
    expect([newest.lines.length, words(newest)[0], words(newest).at(-1)]).toEqual([100, "line 151", "line 250"]);
    const middle = await logs(`?limit=100&before=${newest.older}`);
    const oldest = await logs(`?limit=100&before=${middle.older}`);
    expect([words(middle)[0], words(oldest)[0], words(oldest).at(-1), oldest.older]).toEqual([
      "line 51",
      "line 1",
      "line 50",
      null,
    ]);
    const tail = await logs(`?after=${newest.newer}`);
    expect(tail).toMatchObject({ lines: [], newer: newest.newer, more: false });
    await write(251, 255);
    const next = await logs(`?after=${tail.newer}&limit=3`);
    expect([words(next), next.more]).toEqual([["line 251", "line 252", "line 253"], true]);
    expect(words(await logs(`?after=${next.newer}`))).toEqual(["line 254", "line 255"]);
  });

  test("are found by attempt, gravity and text, and keep their numbers", async () => {
    expect(words(await logs("?level=error"))).toEqual(["line 50", "line 100", "line 150", "line 200", "line 250"]);
    expect(words(await logs("?level=error&attempt=1"))).toEqual(["line 50", "line 100"]);
    expect(words(await logs("?q=LINE%2012"))).toEqual([
      "line 12",
      ...Array.from({ length: 10 }, (_, n) => `line ${120 + n}`),
    ]);
    expect(words(await logs("?q=needle"))).toEqual(["line 123"]);
    expect(await text(`/api/tasks/${task_id}/logs?q=needle`)).toContain("12345678901234567890");
  });

  test("of a search that finds little look at a bounded number of lines and say where to go on", async () => {
    await write(1001, 26_000);
    const first = await logs("?q=needle");
    expect(first).toMatchObject({ lines: [], looked_at: 20_000, more: true });
    expect(words(await logs(`?q=needle&before=${first.older}`))).toEqual(["line 123"]);
  });

  test("of another tenant's task are not there", async () => {
    const key = await service.key("other");
    expect((await service.call("GET", `/api/tasks/${task_id}/logs`, { key })).status).toBe(404);
  });
});

describe("lineage", () => {
  const lineage = async (stage: string, index: string) => get(`/api/tasks/${await taskOf(stage, index)}/lineage`);

  test("of one that follows one, and goes into a batch", async () => {
    const { up, down } = await lineage("polish", "tile-3");
    expect(up).toMatchObject([
      {
        stage: "cut",
        how: "task",
        tasks: 1,
        counts: { completed: 1 },
        first: [{ index: "tile-3", status: "completed" }],
      },
    ]);
    expect(down).toMatchObject([{ stage: "pack", how: "batch", tasks: 1, first: [{ index: "0" }] }]);
  });

  test("of a batch tells its slice, and of a fan-out what was planned of it", async () => {
    const { up, down } = await lineage("pack", "1");
    expect(up).toMatchObject([{ stage: "polish", how: "batch", tasks: 2, counts: { completed: 1, skipped: 1 } }]);
    expect(up[0].first.map(({ index }: { index: string }) => index)).toEqual(["tile-4", "tile-5"]);
    expect(down).toMatchObject([{ stage: "spread", how: expect.stringMatching(/plan|task/) }]);
  });

  test("of one that reads everything counts by the ledger", async () => {
    const { up, down } = await lineage("join", "0");
    expect(up).toMatchObject([{ stage: "spread", how: "all", tasks: 4, counts: { completed: 4, failed: 0 } }]);
    expect(down).toEqual([]);
  });

  test("of a task that stands alone is empty", async () => {
    const { task_id } = await service.engine.enqueue("t.never", {});
    expect(await get(`/api/tasks/${task_id}/lineage`)).toMatchObject({ job_id: null, up: [], down: [] });
  });
});

describe("timeline", () => {
  test("shows every task of a small job with its runs, and the path the job waited for", async () => {
    const timeline = await get(`/api/jobs/${job_id}/timeline`);
    const stages = timeline.stages as {
      name: string;
      tasks: { index: string; runs: Record<string, unknown>[] }[];
      last_ordinal: number;
      bins: unknown;
    }[];
    expect(stages.map(({ name, tasks, bins }) => [name, tasks.length, bins])).toEqual([
      ["cut", 6, null],
      ["polish", 6, null],
      ["pack", 2, null],
      ["spread", 4, null],
      ["join", 1, null],
    ]);
    const twice = stages[0]!.tasks.find(({ index }) => index === "tile-3")!;
    expect(twice.runs.map(({ outcome }) => outcome)).toEqual(["failed", "completed"]);
    expect(twice.runs[0]!.retry_at).toBeGreaterThan(twice.runs[0]!.to as number);
    expect(stages[0]!.tasks.find(({ index }) => index === "tile-5")!.runs).toMatchObject([
      { outcome: "failed", code: "cracked" },
    ]);
    expect(stages[1]!.tasks.find(({ index }) => index === "tile-5")!.runs).toMatchObject([
      { outcome: "skipped", from: null },
    ]);
    expect(timeline.path.map(({ stage }: { stage: string }) => stage)).toEqual([
      "cut",
      "polish",
      "pack",
      "spread",
      "join",
    ]);
    expect(timeline.path[0]).toMatchObject({ index: "tile-3", failures: 1, status: "completed" });
    for (const { from, to } of timeline.path) expect(to).toBeGreaterThanOrEqual(from);
    expect(timeline.path.at(-1).to).toBe(timeline.finished);
    expect(timeline.workers).toHaveLength(1);
  });

  test("of one stage has the task that each of the others waited for", async () => {
    const { stages, path } = await get(`/api/jobs/${job_id}/timeline?stage=polish`);
    expect(stages.map(({ tasks }: { tasks: unknown[] }) => tasks.length)).toEqual([1, 6, 1, 1, 1]);
    expect(path).toHaveLength(5);
    const retried = await get(`/api/jobs/${job_id}/timeline?stage=cut&retried=true`);
    expect(retried.stages[0].tasks.map(({ index }: { index: string }) => index).sort()).toEqual(["tile-3", "tile-5"]);
  });

  test("of a wide stage shows the slowest, the last, the failed and the repeated, and counts the rest", async () => {
    const wide = await wideJob(30_000);
    const { stages, path } = await get(`/api/jobs/${wide}/timeline?limit=200`);
    const [stage] = stages;
    expect(stage.tasks.length).toBeLessThanOrEqual(201);
    const shown = new Set(stage.tasks.map(({ ordinal }: { ordinal: number }) => ordinal));
    expect([17, 29_999, 12_345, 20_000].map((ordinal) => shown.has(ordinal))).toEqual([true, true, true, true]);
    const sum = (numbers: number[]) => numbers.reduce((all, n) => all + n, 0);
    expect([sum(stage.bins.started), sum(stage.bins.ended), sum(stage.bins.failed)]).toEqual([30_000, 30_000, 1]);
    expect(stage).toMatchObject({ looked_at: 30_000, last_ordinal: 29_999, median_ms: 1000 });
    expect(path).toMatchObject([{ task_id: expect.stringMatching(/-29999$/) }]);
  });

  test("of a window that is narrow and far from everything, or ends before it begins, has nothing in its bins", async () => {
    for (const window of [
      "from=2020-01-01T00:00:00Z&to=2020-01-01T00:00:00.001Z",
      "from=9999-01-01T00:00:00Z&to=2020-01-01T00:00:00Z",
    ]) {
      const { stages } = await get(`/api/jobs/${job_id}/timeline?limit=1&${window}`);
      const { bins } = stages.find(({ name }: { name: string }) => name === "cut");
      expect(new Set([...bins.started, ...bins.ended]), window).toEqual(new Set([0]));
    }
  });

  test("reads no more of a stage than it may, and says so", async () => {
    const wider = await wideJob(150_000);
    const { stages } = await get(`/api/jobs/${wider}/timeline`);
    expect(stages[0]).toMatchObject({ looked_at: 75_000, total: 150_000 });
  });

  test("of another tenant's job is not there", async () => {
    const key = await service.key("other");
    expect((await service.call("GET", `/api/jobs/${job_id}/timeline`, { key })).status).toBe(404);
  });

  /** A job that ended with so many tasks, one a millisecond: 17 was slowest, 12,345 failed, 20,000 was tried three times. */
  async function wideJob(total: number): Promise<string> {
    const { job_id: wide } = await service.engine.submit("wide", { total });
    const [{ stage_id } = { stage_id: 0 }] = await service.db.sql<{ stage_id: number }>`
      select stage_id from app.stages where job_id = ${wide}`;
    await service.db.script(`
      delete from app.ready where stage_id = ${stage_id};
      insert into app.tasks (stage_id, ordinal, tenant_id, created_at)
        select ${stage_id}, o, 'default', now() - interval '1 hour' from generate_series(1, ${total} - 1) o;
      insert into app.results (stage_id, ordinal, tenant_id, status, attempt, finished_at, duration_ms, error)
        select ${stage_id}, o, 'default', case when o = 12345 then 'failed' else 'completed' end::app.task_status,
          case when o = 20000 then 3 else 1 end, now() - interval '1 hour' + make_interval(secs => 500 + o / 1000.0),
          case when o = 17 then 400000 else 1000 end, case when o = 12345 then '{"code": "bad"}'::jsonb end
          from generate_series(0, ${total} - 1) o;
      update app.stages set total = ${total}, status = 'completed', opened_at = now() - interval '1 hour', closed_at = now() where stage_id = ${stage_id};
      update app.stage_progress set total = ${total}, completed = ${total} - 1, failed = 1, remaining = 0, is_open = false where stage_id = ${stage_id};
      update app.jobs set status = 'completed', created_at = now() - interval '1 hour', finished_at = now() where job_id = '${wide}'`);
    return wide;
  }
});
