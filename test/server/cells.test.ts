// A whole stage in one answer: every cell says what the list of tasks says, in few bytes, however many tasks there are, read once for
// all who look.
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import {
  type CellStatus,
  type Cells,
  cell_codes,
  cell_statuses,
  decodeCells,
  encodeCells,
  tasksOfCell,
} from "../../src/core/shown/cells.js";
import type { Engine } from "../../src/engine/engine.js";
import { type CellBounds, readStageCells } from "../../src/engine/verbs/stage_cells.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { StageCellsKeeper } from "../../src/server/jobs/kept_cells.js";
import { durationClass, worstOf } from "../core/cell_rules.js";
import { claim, drain, finish, register, submit } from "../engine/floor.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let worker: string;
beforeAll(async () => {
  service = await openService();
  worker = await register(service.db, [], 3600);
});
afterAll(() => service.close());

let count = 0;
const stage = (n: number, more = {}) => [{ name: "tile", task: `t.cells${++count}`, plan: { count: n }, ...more }];

/** A stage with a task of every kind. */
async function mixedJob(): Promise<{ job_id: string; stage_id: number }> {
  const { db } = service;
  const stages = stage(60, { failure_budget: { count: 60 } });
  const type = stages[0]!.task;
  const { job_id } = await submit(db, stages, { count });
  const first = await claim(db, worker, [type], 20);
  await finish(db, worker, first, ({ ordinal }) => {
    if (ordinal < 10) return {};
    if (ordinal < 13) return { category: "permanent", message: "no good" };
    if (ordinal < 16) return { category: "transient", retry_after_s: 3600 };
    return ordinal < 18 ? { category: "throttled", retry_after_s: 3600 } : {};
  });
  const stage_id = first[0]!.stage_id;
  await db.sql`update app.results set duration_ms = 100 + 37 * ordinal where stage_id = ${stage_id}::bigint`;
  const other = await register(db, [], 3600);
  await claim(db, other, [type], 8);
  await db.sql`select app.skip_task(${`${stage_id}-40`}, 'unwanted'), app.skip_task(${`${stage_id}-11`}, 'unwanted')`;
  await db.sql`update app.ready set run_at = now() + interval '1 hour' where stage_id = ${stage_id}::bigint and lo > 40`;
  return { job_id, stage_id };
}

const engine = (tenant = "default"): Engine => service.engine.forTenant(tenant);

async function read(job_id: string, bounds: CellBounds = {}, named = "1"): Promise<Cells> {
  const { header, columns } = await readStageCells(engine(), job_id, named, null, bounds);
  return decodeCells(encodeCells(header, columns!));
}

interface Listed {
  ordinal: number;
  status: string;
  attempt: number | null;
  run_at: string | null;
  duration_ms: number | null;
  worker_id: string | null;
}

async function listed(job_id: string): Promise<Listed[]> {
  const { tasks } = await engine().tasks({ job_id, stage: "1", limit: 1000 });
  return tasks as Listed[];
}

/** What the list of tasks says, as a cell would. */
function asCell({ status, attempt, run_at }: Listed, is_open: boolean): CellStatus {
  if (status === "cancelled" && is_open) return "waiting";
  if (status !== "queued") return status as CellStatus;
  if (attempt! > 1) return "retrying";
  return Date.parse(run_at!) > Date.now() ? "later" : "queued";
}

async function expectAsListed(job_id: string, cells: Cells): Promise<void> {
  const tasks = await listed(job_id);
  expect(cells.total).toBe(tasks.length);
  const is_open = ["waiting", "planning", "processing"].includes(cells.status);
  // Of a throttled task the list does not tell that it is tried again.
  const throttled = new Set(
    (
      await service.db.sql<{ lo: number }>`
        select lo from app.ready where stage_id = ${cells.stage_id}::bigint and throttles > 0`
    ).map(({ lo }) => lo),
  );
  for (let cell = 0; cell < cells.cells; cell++) {
    const [lo, hi] = tasksOfCell(cells, cell);
    const own = tasks.filter(({ ordinal }) => ordinal >= lo && ordinal < hi);
    const statuses = own.map((task) => (throttled.has(task.ordinal) ? "retrying" : asCell(task, is_open)));
    const about = `cell ${cell}: ${JSON.stringify(own)}`;
    expect(cell_statuses[cells.status_codes[cell]!], about).toBe(worstOf(statuses));
    expect(cells.attempts[cell], about).toBe(Math.max(...own.map(({ attempt }) => attempt ?? 0)));
    const durations = own.flatMap(({ duration_ms }) => (duration_ms === null ? [] : [duration_ms]));
    expect(cells.duration_classes[cell], about).toBe(durationClass(durations.length ? Math.max(...durations) : null));
  }
}

const countOf = ({ status_codes }: Cells, status: CellStatus) =>
  status_codes.filter((code) => code === cell_codes[status]).length;

test("every cell says what the list of tasks says, alone and several to a cell", async () => {
  const { job_id, stage_id } = await mixedJob();
  const cells = await read(job_id);
  expect(cells).toMatchObject({ job_id, stage_id, stage: "tile", status: "processing", total: 60, tasks_per_cell: 1 });
  expect(cells.counts).toEqual({
    completed: 12,
    failed: 2,
    skipped: 2,
    cancelled: 0,
    waiting: 0,
    processing: 8,
    retrying: 5,
    queued: 12,
    later: 19,
  });
  for (const [status, tasks] of Object.entries(cells.counts)) expect(countOf(cells, status as CellStatus)).toBe(tasks);
  await expectAsListed(job_id, cells);
  for (const most_cells of [20, 7, 1]) {
    const binned = await read(job_id, { most_cells });
    expect(binned.cells).toBeLessThanOrEqual(most_cells);
    await expectAsListed(job_id, binned);
  }
});

test("a cell names the worker of its tasks, and that there are several", async () => {
  const { job_id } = await mixedJob();
  const cells = await read(job_id);
  expect(cells.workers[0]!.worker_id).toBe(worker);
  expect(cells.workers).toHaveLength(2);
  expect([cells.worker_numbers[0], cells.worker_numbers[25], cells.worker_numbers[45]]).toEqual([1, 2, 0]);
  const one = await read(job_id, { most_cells: 1 });
  expect([...one.worker_numbers]).toEqual([255]);
});

test("of a stage that is too large to read whole, nothing that needs attention is missed", async () => {
  const { job_id } = await mixedJob();
  const whole = await read(job_id, { most_cells: 6 });
  const sampled = await read(job_id, { most_cells: 6, read_whole: 10 });
  expect([whole.sampled, sampled.sampled]).toEqual([null, 4]);
  expect([...sampled.status_codes]).toEqual([...whole.status_codes]);
});

test("an ended stage shows what never ran as cancelled, one that is being planned shows what there is so far", async () => {
  const { db } = service;
  const stages = stage(10);
  const { job_id } = await submit(db, stages, { count });
  await finish(db, worker, await claim(db, worker, [stages[0]!.task], 4));
  await db.sql`select app.cancel_job(${job_id})`;
  const cells = await read(job_id);
  expect([countOf(cells, "completed"), countOf(cells, "cancelled"), cells.counts.cancelled]).toEqual([4, 6, 6]);
  await expectAsListed(job_id, cells);

  const [one] = stage(1, { plan: undefined });
  const each = { name: "each", task: "t.each", parallelism: "fan_out", plan: { each: "$.items[*]" } };
  const other = await submit(db, [one!, each], { count });
  // More items than are planned on the spot, so that a planner is asked for.
  const items = Array.from({ length: 1001 }, () => ({}));
  await finish(db, worker, await claim(db, worker, [one!.task], 1), () => ({ result: { items } }));
  const [plan] = await claim(db, worker, ["#plan"], 1);
  await worker_commands.plan_tasks(db, {
    worker_id: worker,
    claim_id: plan!.claim_id,
    from: 0,
    tasks: '[{"p":{}},{"p":{}},{"p":{}}]',
  });
  const growing = await read(other.job_id, {}, "each");
  expect([growing.status, growing.total, countOf(growing, "waiting")]).toEqual(["planning", 3, 3]);
  expect(growing.counts).toMatchObject({ waiting: 3, queued: 0, processing: 0 });
  const unopened = await submit(db, [...stage(1), { name: "next", task: "t.next" }], { count });
  expect(await read(unopened.job_id, {}, "next")).toMatchObject({ status: "waiting", total: 0, cells: 0 });
});

test("100,000 tasks are at most 150 KB, zipped or not, and read by key", async () => {
  const { db } = service;
  const n = 100_000;
  const stages = stage(n);
  const { job_id } = await submit(db, stages, { count });
  await drain(db, worker, ["#plan"]);
  const { stages: made } = await engine().status(job_id);
  const { stage_id } = made[0]!;
  // 60,000 have ended, some of them badly; the rest waits.
  await db.sql`
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, duration_ms, worker_id, result, error)
    select ${stage_id}::bigint, o, 'default', case when o % 1000 = 7 then 'failed' else 'completed' end::app.task_status, 1 + o % 3,
      (random() * 100000)::integer, ${worker}::text::uuid, '{"a": "some result"}', case when o % 1000 = 7 then '{"code": "x"}'::jsonb end
      from generate_series(0, 59999) o`;
  await db.sql`update app.ready set lo = 60000 where stage_id = ${stage_id}::bigint`;
  await db.sql`
    update app.stage_progress set completed = 59940, failed = 60, remaining = 40000 where stage_id = ${stage_id}::bigint`;
  const path = `/api/jobs/${job_id}/stages/tile/cells`;
  const ask = async (headers: Record<string, string>) => {
    const answer = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${await service.key()}`, ...headers },
    });
    return {
      answer,
      bytes: Number(answer.headers.get("content-length")),
      body: Buffer.from(await answer.arrayBuffer()),
    };
  };
  const plain = await ask({ "accept-encoding": "identity" });
  expect(plain.answer.status).toBe(200);
  expect(plain.body.length).toBeLessThanOrEqual(150_000);
  const cells = decodeCells(plain.body);
  expect([cells.total, cells.tasks_per_cell, cells.cells]).toEqual([n, 5, 20_000]);
  expect([countOf(cells, "failed"), countOf(cells, "queued"), countOf(cells, "completed")]).toEqual([60, 8000, 11_940]);
  const zipped = await ask({ "accept-encoding": "gzip, br" });
  expect(zipped.answer.headers.get("content-encoding")).toBe("gzip");
  expect(zipped.bytes).toBeLessThan(plain.body.length);
  expect(Buffer.compare(zipped.body, plain.body)).toBe(0);
  const etag = plain.answer.headers.get("etag")!;
  const again = await ask({ "if-none-match": `W/${etag}` });
  expect([again.answer.status, again.body.length, again.answer.headers.get("etag")]).toEqual([304, 0, etag]);
  // The same through the client.
  const client = createClient({ url: service.url, key: await service.key() });
  expect((await client.cells(job_id, "tile")).total).toBe(n);

  const scans = async () => {
    await db.sql`select pg_stat_force_next_flush()`;
    const [row] = await db.sql<{ n: number }>`
      select sum(seq_scan)::int as n from pg_stat_user_tables where relname in ('results', 'tasks', 'ready', 'claims')`;
    return row!.n;
  };
  await db.sql`analyze app.results`;
  const before = await scans();
  await db.transaction(async (tx) => {
    await readStageCells({ db: tx as never, tenant: "default" }, job_id, "tile");
    await tx.sql`select pg_stat_force_next_flush()`;
  });
  expect(await scans()).toBe(before);
});

test("those who look at the same time share one reading, and nothing is read again that has not changed", async () => {
  const { job_id } = await mixedJob();
  const asked: (string | null)[] = [];
  let now = 1;
  const keeper = new StageCellsKeeper(
    async (...call) => {
      asked.push(call[3]);
      return readStageCells(...call);
    },
    () => now,
  );
  const [a, b] = await Promise.all([keeper.of(engine(), job_id, "tile"), keeper.of(engine(), job_id, "tile")]);
  expect(a).toBe(b);
  now = 1000;
  expect(await keeper.of(engine(), job_id, "tile")).toBe(a);
  expect(asked).toEqual([null]);
  now = 1002;
  expect(await keeper.of(engine(), job_id, "tile")).toBe(a);
  expect(asked).toEqual([null, a.etag]);
  await service.db.sql`select app.skip_task(${`${decodeCells(a.body).stage_id}-10`}, 'unwanted')`;
  now = 3000;
  const changed = await keeper.of(engine(), job_id, "tile");
  expect(decodeCells(changed.body).counts.skipped).toBe(decodeCells(a.body).counts.skipped + 1);
  expect(gunzipSync(await changed.zipped()).equals(changed.body)).toBe(true);
});

test("a reading that took long is kept longer, and one that failed is not kept", async () => {
  let now = 1;
  let broken = true;
  const keeper = new StageCellsKeeper(
    async (...call) => {
      now += 500;
      if (broken) throw new Error("no database");
      return readStageCells(...call);
    },
    () => now,
  );
  const { job_id } = await mixedJob();
  await expect(keeper.of(engine(), job_id, "1")).rejects.toThrow("no database");
  broken = false;
  const first = await keeper.of(engine(), job_id, "1");
  const read_at = now;
  await service.db.sql`select app.cancel_job(${job_id})`;
  now = read_at + 4900;
  expect(await keeper.of(engine(), job_id, "1")).toBe(first);
  now = read_at + 5100;
  expect(await keeper.of(engine(), job_id, "1")).not.toBe(first);
});

test("whatever moves a task is another etag", async () => {
  const { db } = service;
  const { job_id, stage_id } = await mixedJob();
  const etag = async () => (await readStageCells(engine(), job_id, "1")).etag;
  const seen = [await etag()];
  const moved = async (change: () => Promise<unknown>) => {
    await change();
    seen.push(await etag());
  };
  expect(await etag()).toBe(seen[0]);
  const type = (
    await db.sql<{ task_type: string }>`select task_type from app.stages where stage_id = ${stage_id}::bigint`
  )[0]!;
  await moved(() => claim(db, worker, [type.task_type], 1));
  await moved(() => db.sql`select app.skip_task(${`${stage_id}-12`}, 'unwanted')`);
  await moved(() => db.sql`update app.ready set run_at = now() where stage_id = ${stage_id}::bigint`);
  await moved(() => db.sql`select app.cancel_job(${job_id})`);
  await moved(() => db.sql`select app.skip_task(${`${stage_id}-59`}, 'unwanted')`);
  await moved(() => db.sql`select app.resume_job(${job_id})`);
  expect(new Set(seen).size).toBe(seen.length);
});

test("the stage of another tenant, or one that is not there, is not found", async () => {
  const { job_id } = await mixedJob();
  const path = `/api/jobs/${job_id}/stages/tile/cells`;
  expect((await service.call("GET", path)).status).toBe(200);
  expect((await service.call("GET", path, { key: await service.key("globex") })).status).toBe(404);
  expect((await service.call("GET", `/api/jobs/${job_id}/stages/other/cells`)).status).toBe(404);
  expect((await service.call("GET", path, { key: await service.key("default", ["submit"]) })).status).toBe(403);
});

test("the tasks of one cell are listed by their ordinals, in pages", async () => {
  const { job_id } = await mixedJob();
  const page = async (query: string) =>
    (await service.call("GET", `/api/jobs/${job_id}/tasks?stage=tile&${query}`)).body;
  const first = await page("from=12&to=17&limit=3");
  expect(first.tasks.map(({ ordinal }: Listed) => ordinal)).toEqual([12, 13, 14]);
  const rest = await page(`from=12&to=17&limit=3&cursor=${first.next}`);
  expect(rest.tasks.map(({ ordinal }: Listed) => ordinal)).toEqual([15, 16]);
  expect(rest.next).toBeNull();
  const failed = await page("from=11&to=13&status=failed");
  expect(failed.tasks.map(({ ordinal }: Listed) => ordinal)).toEqual([12]);
  expect((await page("from=60")).tasks).toEqual([]);
});
