// A tenant that speaks SQL itself, with a login of its own: it can neither hold up, nor crowd out, nor watch the others.
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { freshDatabase, realServer } from "../postgres.js";
import { claim, finish, one, register, type StageData, submit } from "./floor.js";
import { untilWaiting } from "./lock_waits.js";

const login = `ff_login_${Math.random().toString(36).slice(2, 8)}`;
let db: Database;
let drop: () => Promise<void>;
let url: string;
/** acme's login; `db` speaks as the operator does. */
let acme: Database;

beforeAll(async () => {
  const fresh = await freshDatabase();
  ({ db, drop, url } = fresh);
  await db.sql`select app.create_tenant('acme'), app.create_tenant('globex')`;
  await db.script(`create role ${login} login; grant fanfold_api, fanfold_worker to ${login}`);
  await db.sql`select app.map_role(${login}::text::name, 'acme')`;
  const own = new URL(url);
  own.username = login;
  acme = openServer(own.href);
});

afterAll(async () => {
  await acme.close();
  await drop();
  const admin = openServer((await realServer()).admin_url);
  await admin.script(`drop role if exists ${login}`);
  await admin.close();
});

beforeEach(async () => {
  await db.sql`delete from app.schedules`;
  await db.sql`update app.workers set status = 'stopped', ended_at = now() where status = 'live'`;
  await db.sql`delete from app.work_counts`;
  await db.sql`delete from app.tallies`;
});

const json = (value: unknown) => JSON.stringify(value);

async function putSchedule(session: Queryable, given: object) {
  const request = { name: "s", cron: "* * * * *", time_zone: "UTC", job_type: "x", next_at: new Date(0), ...given };
  const [row] = await session.sql<{ reply: { schedule: { next_at: string } } }>`
    select app.put_schedule(${json(request)}::text::json) as reply`;
  return row!.reply.schedule;
}

/** Schedules that are due, made by hand. */
async function dueSchedules(tenant: string, count: number, bytes = 0): Promise<void> {
  await db.sql`
    insert into app.schedules (tenant_id, name, cron, time_zone, job_type, parameters, next_at, created_by, updated_by)
    select ${tenant}, 's' || n, '* * * * *', 'UTC', 'x', jsonb_build_object('x', repeat('y', ${bytes}::integer)),
      now() - interval '1 day' - n * interval '1 second', 'test', 'test'
      from generate_series(1, ${count}::integer) n`;
}

const due = async (known: string[] = ["x"]) =>
  (
    await one(db.sql<{ reply: { schedules: { tenant_id: string }[] } }>`
      select app.due_schedules(${json(known)}::text::json) as reply`)
  ).reply.schedules;

async function tenantsWorker(tenant: string, types: string[], given: object = {}): Promise<string> {
  const worker_id = randomUUID();
  const request = {
    worker_id,
    types,
    slots: 1,
    host: "h",
    pid: 1,
    version: "0",
    connections: 0,
    lease_s: 30,
    ...given,
  };
  await db.transaction(async (tx) => {
    await tx.sql`select set_config('fanfold.tenant', ${tenant}, true)`;
    await tx.sql`select app.register_worker(${json(request)}::text::json)`;
  });
  return worker_id;
}

/** A job, and another that waits for it. */
async function withDependent(tenant: string, stages: StageData[], n: string) {
  const first = await submit(db, stages, { n: `${n} 1` }, { tenant });
  const jobs = [{ parameters: json({ n: `${n} 2` }), depends_on: [first.job_id] }];
  await db.sql`select app.submit_jobs(${json({ type: "test_job", stages })}::text::jsonb, ${json({ tenant, jobs })}::text::json)`;
  return first;
}

test("schedules: none is due before it was made, none is huge, and a tenant has a thousand", async () => {
  const before = await one(db.sql<{ at: Date }>`select now() as at`);
  expect(new Date((await putSchedule(acme, {})).next_at) >= before.at).toBe(true);
  await acme.sql`select app.pause_schedule('s', true)`;
  await acme.sql`select app.pause_schedule('s', false, next_at => '2020-01-01T00:00:00Z')`;
  expect((await one(db.sql<{ at: Date }>`select next_at as at from app.schedules`)).at >= before.at).toBe(true);
  await expect(putSchedule(acme, { parameters: { x: "y".repeat(262_144) } })).rejects.toMatchObject({ code: "FF002" });
  await expect(putSchedule(acme, { options: { x: "y".repeat(65_536) } })).rejects.toMatchObject({ code: "FF002" });
  await dueSchedules("acme", 999);
  await expect(putSchedule(acme, { name: "more" })).rejects.toMatchObject({ code: "FF009" });
  await putSchedule(acme, { description: "one that there is may be changed" });
});

test("schedules: one tenant's many leave room for another's few, and a page has its size", async () => {
  await dueSchedules("acme", 500);
  await dueSchedules("globex", 3);
  for (const known of [["x"], []]) {
    const found = await due(known);
    expect(found.filter(({ tenant_id }) => tenant_id === "globex")).toHaveLength(3);
    expect(found.filter(({ tenant_id }) => tenant_id === "acme")).toHaveLength(25);
  }
  await db.sql`delete from app.schedules`;
  for (const tenant of ["acme", "globex"]) await dueSchedules(tenant, 25, 250_000);
  const found = await due();
  expect(found.length).toBeGreaterThan(30);
  expect(json(found).length).toBeLessThan(9 * 1024 * 1024);
  expect(new Set(found.slice(0, 50).map(({ tenant_id }) => tenant_id)).size).toBe(2);
});

test("a tenant does not lock another's schedule by trying to take it", async () => {
  await dueSchedules("globex", 1);
  const { id } = await one(db.sql<{ id: number }>`select schedule_id as id from app.schedules`);
  await acme.transaction(async (tx) => {
    const [row] = await tx.sql`select app.take_schedule(${id}::bigint, 1, now()::text, now()::text, null) as taken`;
    expect(row).toEqual({ taken: false });
    expect(await db.sql`select from app.schedules for update skip locked`).toHaveLength(1);
  });
});

test("whoever tells dependents holds up its own tenant and no other, and none is a lock that a login can take", async () => {
  const stages = [{ name: "only", task: "t.dep" }];
  const ended: Record<string, string> = {};
  for (const tenant of ["acme", "globex"]) ended[tenant] = (await withDependent(tenant, stages, "one")).job_id;
  expect(await db.sql`select from app.job_dependencies`).toHaveLength(2);
  await acme.transaction(async (tx) => {
    // The key there was, for everybody.
    await tx.sql`select pg_advisory_xact_lock(7308324466020483)`;
    await tx.sql`select app.cancel_job(${ended.acme!}::text)`;
    await db.transaction(async (other) => {
      await other.script("set local lock_timeout = '2s'");
      await other.sql`select app.cancel_job(${ended.globex!}::text, tenant => 'globex')`;
    });
    expect(await db.sql`select tenant_id from app.dependents_locks for update skip locked`).toEqual([
      { tenant_id: "globex" },
    ]);
  });
  await expect(acme.sql`select from app.dependents_locks for update`).rejects.toMatchObject({ code: "42501" });
});

test("one finish that ends jobs of two tenants waits for the first of them without holding the other", async () => {
  const stages = [{ name: "only", task: "t.two" }];
  const ended: Record<string, string> = {};
  for (const tenant of ["acme", "globex"]) ended[tenant] = (await withDependent(tenant, stages, "two")).job_id;
  const worker = await register(db, ["t.two"]);
  const held = await claim(db, worker, ["t.two"]);
  expect(held).toHaveLength(2);
  const { stage } = await one(db.sql<{ stage: number }>`
    select stage_id as stage from app.stages where tenant_id = 'acme' and job_id = ${ended.acme!}`);
  const holder = openServer(url);
  const finisher = openServer(url);
  onTestFinished(async () => {
    await holder.close();
    await finisher.close();
  });
  let is_over = false;
  let finishing: Promise<unknown> = Promise.resolve();
  await holder.transaction(async (tx) => {
    await tx.sql`select app.lock_dependents(array['acme'])`;
    // acme's ends the long way, globex's the short one, which comes first.
    finishing = finish(finisher, worker, held, (task) =>
      task.stage_id === stage ? { category: "permanent" } : {},
    ).finally(() => {
      is_over = true;
    });
    finishing.catch(() => {});
    await untilWaiting(db, 1, () => is_over);
    expect(is_over).toBe(false);
    expect(
      await tx.sql`
      select tenant_id from app.dependents_locks where tenant_id = 'globex' for update skip locked`,
    ).toHaveLength(1);
  });
  await finishing;
  expect(await db.sql`select status from app.jobs where parameters ->> 'n' = 'two 2' order by tenant_id`).toEqual([
    { status: "cancelled" },
    { status: "queued" },
  ]);
});

/** Every advisory lock that the others' sessions hold or wait for: what a login that polls pg_locks would try to take. */
async function advisoryLocks(): Promise<unknown[]> {
  return db.sql`select objid from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
    and database = (select oid from pg_database where datname = current_database())`;
}

test("nothing of ours is an advisory lock, which any login could see and hold", async () => {
  await db.sql`select app.set_limits('globex', 5, '{"queued_tasks": 1000}')`;
  await submit(db, [{ name: "only", task: "t.limited", max_parallel: 3 }], {}, { tenant: "globex" });
  await db.sql`update app.tenant_usage set counted_at = now() - interval '1 minute'`;
  const worker = await register(db, ["t.limited"]);
  const blueprint = json({ type: "locked", stages: [{ name: "only", task: "t.locked" }] });
  const calls: ((tx: Queryable) => Promise<unknown>)[] = [
    (tx) => claim(tx, worker, ["t.limited"]),
    (tx) => submit(tx, [{ name: "only", task: "t.limited" }], { forced: 1 }, { tenant: "globex", mode: "force" }),
    (tx) => putSchedule(tx, { tenant: "globex", name: "locked" }),
    (tx) => tx.sql`select app.put_view('mine', 'status=failed', 'globex')`,
    (tx) =>
      tx.sql`select app.put_blueprint(${json({ tenant: "globex", declaration: {}, blueprint: JSON.parse(blueprint) })}::text::json)`,
    (tx) => tx.sql`select app.take_turn('a', 'globex')`,
    (tx) =>
      tx.sql`select app.cancel_job(j.job_id, tenant => 'globex') from app.jobs j where j.tenant_id = 'globex' limit 1`,
    (tx) => tx.sql`select app.fold_rates(), app.fold_counts(), app.check_closed(), app.refresh_statistics()`,
    (tx) => tx.sql`select app.sample_queues(), app.count_usage()`,
  ];
  for (const call of calls) {
    await db.transaction(async (tx) => {
      await call(tx);
      expect(await advisoryLocks()).toEqual([]);
    });
  }
  const refused = ["select from app.named_locks for update", "select from app.duties for update"];
  for (const table of ["named_locks in access share", "duties in access share", "schema_migrations in row exclusive"]) {
    refused.push(`lock table app.${table} mode`);
  }
  for (const text of refused) {
    await expect(acme.transaction((tx) => tx.script(text))).rejects.toMatchObject({ code: "42501" });
  }
});

test("one does a duty at a time, names are held until the end, and none is left", async () => {
  await db.transaction(async (tx) => {
    expect(await one(tx.sql`select app.take_duty('rates') as first`)).toEqual({ first: true });
    expect(await one(db.sql`select app.take_duty('rates') as second`)).toEqual({ second: false });
    await tx.sql`select app.lock_named('one'), app.lock_named('one')`;
    await db.sql`select app.lock_named('other')`;
    const late = db.transaction(async (other) => {
      await other.script("set local lock_timeout = '50ms'");
      await other.sql`select app.lock_named('one')`;
    });
    await expect(late).rejects.toMatchObject({ code: "55P03" });
  });
  await db.sql`select app.lock_named('one')`;
  expect(await db.sql`select from app.named_locks`).toEqual([]);
});

test("a tenant's janitor touches its own rows, and not what tells how all of them are", async () => {
  for (const tenant of ["acme", "globex"]) {
    await submit(db, [{ name: "only", task: "t.reap" }], { reap: 1 }, { tenant, options: { deadline_s: 3600 } });
    const worker = await tenantsWorker(tenant, ["t.reap"]);
    await db.transaction(async (tx) => {
      await tx.sql`select set_config('fanfold.tenant', ${tenant}, true)`;
      expect(await claim(tx, worker, ["t.reap"])).toHaveLength(1);
    });
  }
  await db.sql`update app.workers set heartbeat_at = now() - interval '1 hour' where status = 'live'`;
  // The server may have started a moment ago, which excuses who was there shortly before.
  await db.sql`update app.workers set heartbeat_at = pg_postmaster_start_time() - interval '1 hour' where status = 'live'`;
  const live = async () =>
    (await db.sql<{ tenant_id: string }>`select tenant_id from app.workers where status = 'live' order by 1`).map(
      ({ tenant_id }) => tenant_id,
    );
  expect(await one(acme.sql<{ reply: object }>`select app.reap_workers() as reply`)).toMatchObject({
    reply: { lost_workers: 1, tasks: 1 },
  });
  expect(await live()).toEqual(["globex"]);
  // Claims of a worker that is gone, jobs past their deadline, open jobs to look at.
  await db.sql`update app.workers set status = 'lost', ended_at = now() where status = 'live'`;
  expect(await one(acme.sql<{ reply: object }>`select app.sweep_claims() as reply`)).toMatchObject({
    reply: { swept: 0 },
  });
  await db.sql`update app.jobs set deadline_at = now() - interval '1 minute' where parameters ->> 'reap' = '1' and tenant_id = 'globex'`;
  expect(await one(acme.sql<{ reply: object }>`select app.expire_jobs() as reply`)).toMatchObject({
    reply: { expired: 0, next: null },
  });
  const { reply } = await one(acme.sql<{ reply: { next: [string, string] } }>`select app.stuck_jobs() as reply`);
  expect(await db.sql`select tenant_id from app.jobs where job_id = ${reply.next[1]}`).toEqual([{ tenant_id: "acme" }]);
  const health = () =>
    one(db.sql`select run_id, last_run_at, last_success_at, last_error, checked_event_id from app.janitor`);
  await db.sql`update app.janitor set last_success_at = now() - interval '1 hour', last_error = 'as it was', checked_event_id = 0`;
  const before = await health();
  await acme.sql`select app.janitor_begin(${randomUUID()}::text::uuid)`;
  await acme.sql`select app.check_closed()`;
  await acme.sql`select app.janitor_end(${randomUUID()}::text::uuid)`;
  expect(await health()).toEqual(before);
  expect(await db.sql`select from app.events where kind = 'alert.janitor_silent'`).toEqual([]);
  await db.sql`insert into app.work_counts values (${randomUUID()}::text::uuid, 't.gone', '{1}')`;
  await acme.sql`select app.fold_counts()`;
  expect(
    await db.sql`select from app.work_counts where worker_id <> '00000000-0000-0000-0000-000000000000'`,
  ).toHaveLength(1);
  expect(await one(acme.sql`select app.refresh_statistics() as reply`)).toEqual({ reply: { analysed: [] } });
});

test("counts: of types that the worker registered and no other, and the measures name a bounded number", async () => {
  const types = Array.from({ length: 300 }, (_, n) => `t.type${n}`);
  const worker = await tenantsWorker("acme", types);
  const counts = [...types, "t.made_up", "#plan", "#made_up"].map((type) => [type, [2, 1]]);
  const report = (sent: unknown) =>
    acme.sql`select app.report_counts(${worker}::text::uuid, ${json(sent)}::text::json)`;
  await report(counts);
  await report([
    ["t.type0", [1, 5]],
    ["t.type1", [-1, 7]],
    ["t.type2", ["NaN", 7]],
  ]);
  const kept = await db.sql<{ task_type: string; counts: number[] }>`select task_type, counts from app.work_counts`;
  expect(kept).toHaveLength(201);
  const of = (type: string) => kept.find(({ task_type }) => task_type === type)?.counts;
  expect([of("t.type0"), of("t.type1"), of("t.type2"), of("#plan"), of("t.made_up"), of("#made_up")]).toEqual([
    [2, 5],
    [2, 1],
    [2, 1],
    [2, 1],
    undefined,
    undefined,
  ]);
  await db.sql`insert into app.tallies (name, label, amount) select 'tasks_lost', 't.type' || n, n from generate_series(1, 300) n`;
  const measured = async () =>
    (
      await one(db.sql<{ reply: { work: Record<string, number[]>; tallies: [string, string, number][] } }>`
        select app.read_metrics(10) as reply`)
    ).reply;
  const { work, tallies } = await measured();
  expect(Object.keys(work)).toHaveLength(11);
  expect(work._other).toEqual([2 * 191, 191]);
  expect(tallies).toHaveLength(11);
  expect(tallies.reduce((sum, [, , amount]) => sum + amount, 0)).toBe(45_150);
  expect(tallies).toContainEqual(["tasks_lost", "t.type300", 300]);
});

test("totals: types that were made up are one beyond a thousand, and sums stay what they were", async () => {
  const fold = () => db.sql`select app.fold_counts()`;
  await db.sql`insert into app.work_counts select ${randomUUID()}::text::uuid, 't.a' || n, '{1}' from generate_series(1, 600) n`;
  await fold();
  await db.sql`insert into app.work_counts select ${randomUUID()}::text::uuid, 't.b' || n, '{1}' from generate_series(1, 600) n`;
  await db.sql`insert into app.tallies (name, label, amount)
    select 'tasks_lost', 't.l' || n % 1500, 1 from generate_series(1, 6000) n`;
  await fold();
  await fold();
  expect(await one(db.sql`select count(*)::integer as rows, sum(counts[1]) as total from app.work_counts`)).toEqual({
    rows: 1001,
    total: 1200,
  });
  expect(
    await one(
      db.sql`select count(*)::integer as rows, sum(amount)::integer as total from app.tallies where name = 'tasks_lost'`,
    ),
  ).toEqual({ rows: 1001, total: 6000 });
});

test("connections: a tenant has a share of what workers may use, and its leases are minutes", async () => {
  const { most } = await one(db.sql<{ most: number }>`select current_setting('max_connections')::integer / 2 as most`);
  const share = Math.floor(most / 4);
  const add = (session: Queryable, connections: number, lease_s = 30) =>
    session.sql<{ reply: { lease_s: number } }>`select app.register_worker(${json({
      worker_id: randomUUID(),
      types: ["t.c"],
      slots: 1,
      host: "h",
      pid: 1,
      version: "0",
      connections,
      lease_s,
    })}::text::json) as reply`;
  await expect(add(acme, most)).rejects.toMatchObject({ code: "FF008" });
  expect(await add(acme, share, 3600)).toEqual([{ reply: { lease_s: 300 } }]);
  await expect(add(acme, 1)).rejects.toMatchObject({ code: "FF008" });
  expect(await add(acme, 0)).toEqual([{ reply: { lease_s: 30 } }]);
  expect(await add(db, 2, 3600)).toEqual([{ reply: { lease_s: 3600 } }]);
});

test("who listens for work hears of others' types no more than a hash", async () => {
  const heard: string[] = [];
  let told = () => {};
  const first = new Promise<void>((resolve) => {
    told = resolve;
  });
  const listener = await acme.listen("fanfold_ready", (payload) => {
    heard.push(payload);
    told();
  });
  const worker = await register(db, ["t.secret_project"]);
  await db.sql`update app.workers set idle = true where worker_id = ${worker}::text::uuid`;
  await db.sql`select app.enqueue('t.secret_project', '{}', tenant => 'globex')`;
  await first;
  await listener.stop();
  expect(heard).toEqual([createHash("sha256").update("t.secret_project").digest("hex").slice(0, 12)]);
});
