// GET /metrics on the real service, with real workers: who may read it, what it counts, and what it must not touch.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Transient } from "../../src/core/errors/errors.js";
import { Tally } from "../../src/core/task/work_counts.js";
import { Janitor } from "../../src/engine/upkeep/janitor.js";
import { readMetrics } from "../../src/engine/verbs/metrics.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { createApp } from "../../src/server/app.js";
import { databaseFamilies } from "../../src/server/metrics/database_metrics.js";
import { exposition, Family } from "../../src/server/metrics/exposition.js";
import { readExposition, sampleValue } from "./exposition.js";
import { openService, type TestService } from "./service.js";

const token = "scrape-token-of-the-tests";
const double = defineHandler("math.double", {}, ({ n }) => ({ n: 2 * n }));
const flaky = defineHandler("math.flaky", {}, (_, { attempt }) => {
  if (attempt === 1) throw new Transient("not yet", { code: "busy" });
  return attempt;
});
const broken = defineHandler("math.broken", {}, () => {
  throw new Permanent("never", { code: "broken" });
});
const doubling = defineJob({ type: "doubling", stages: [{ name: "double", task: "math.double" }] });

let service: TestService;
beforeAll(async () => {
  service = await openService({ handlers: [double, flaky, broken], jobs: [doubling] }, { metrics_token: token });
});
afterAll(() => service.close());

async function scrape() {
  // Scrapes are kept for a second: each of these asks anew, as another server of the same service would.
  const app = createApp({ engine: service.engine, metrics_token: token });
  const answer = await app.inject({ url: "/metrics", headers: { authorization: `Bearer ${token}` } });
  await app.close();
  expect(answer.statusCode).toBe(200);
  return readExposition(answer.body);
}

describe("who may read the metrics", () => {
  test("nobody without a credential, and no tenant's key whatever its scopes", async () => {
    expect((await service.call("GET", "/metrics", { key: null })).status).toBe(401);
    expect((await service.call("GET", "/metrics", { key: `${token}x` })).status).toBe(401);
    expect((await service.call("GET", "/metrics", { key: await service.key("default") })).status).toBe(403);
  });

  test("an operator's key with the scope read, and the token for scrapes", async () => {
    const operator = await service.key("default", ["read"], { operator: true });
    const answer = await service.call("GET", "/metrics", { key: operator });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    readExposition(answer.body);
    expect((await service.call("GET", "/metrics", { key: token })).status).toBe(200);
    const submitter = await service.key("default", ["submit"], { operator: true });
    expect((await service.call("GET", "/metrics", { key: submitter })).status).toBe(403);
  });

  test("the token opens nothing else, and without one there is none", async () => {
    expect((await service.call("GET", "/api/jobs", { key: token })).status).toBe(401);
    const app = createApp({ engine: service.engine });
    for (const authorization of ["Bearer ", "Bearer undefined", `Bearer ${token}`]) {
      expect((await app.inject({ url: "/metrics", headers: { authorization } })).statusCode).toBe(401);
    }
    await app.close();
  });

  test("a role that is one tenant cannot read them in SQL either", async () => {
    const { db } = service;
    await db.sql`select app.create_tenant('acme')`;
    const login = `ff_acme_${randomUUID().slice(0, 8)}`;
    await db.script(`create role ${login} login; grant fanfold_api, fanfold_worker to ${login}`);
    await db.sql`select app.map_role(${login}::text::name, 'acme')`;
    await expect(
      db.transaction(async (tx) => {
        await tx.script(`set local session authorization ${login}`);
        await tx.sql`select app.read_metrics()`;
      }),
    ).rejects.toMatchObject({ code: "FF005" });
    await expect(
      db.transaction(async (tx) => {
        await tx.script(`set local session authorization ${login}`);
        await tx.sql`select * from app.work_counts`;
      }),
    ).rejects.toMatchObject({ code: "42501" });
    await db.script(`drop owned by ${login}; drop role ${login}`);
  });
});

describe("what they count", () => {
  test("what workers did is told by task type, and stays when they leave and when they die", async () => {
    const { engine, db } = service;
    const worker = await service.worker({ lease_s: 5, slots: 4 });
    await engine.enqueueMany(
      "math.double",
      Array.from({ length: 50 }, (_, n) => ({ parameters: { n } })),
    );
    await engine.enqueue("math.flaky", {});
    await engine.enqueue("math.broken", {});
    const { job_id } = await engine.submit("doubling", { n: 1 });
    await engine.wait(job_id);
    await expect
      .poll(
        async () =>
          sampleValue(await scrape(), "fanfold_tasks_finished_total", {
            task_type: "math.flaky",
            outcome: "completed",
          }),
        { timeout: 20_000 },
      )
      .toBe(1);
    await worker.stop();

    const check = async () => {
      const told = await scrape();
      expect(sampleValue(told, "fanfold_tasks_claimed_total", { task_type: "math.double" })).toBe(51);
      expect(
        sampleValue(told, "fanfold_tasks_finished_total", { task_type: "math.double", outcome: "completed" }),
      ).toBe(51);
      expect(sampleValue(told, "fanfold_task_duration_seconds_count", { task_type: "math.double" })).toBe(51);
      expect(sampleValue(told, "fanfold_task_retries_total", { task_type: "math.flaky", category: "transient" })).toBe(
        1,
      );
      expect(
        sampleValue(told, "fanfold_task_failures_total", { task_type: "math.broken", category: "permanent" }),
      ).toBe(1);
      expect(sampleValue(told, "fanfold_task_retries_total", { task_type: "math.broken", category: "permanent" })).toBe(
        0,
      );
      expect(sampleValue(told, "fanfold_jobs_ended_total", { status: "completed" })).toBe(1);
      return told;
    };
    await check();
    const [before] = await db.sql<{ n: number }>`select count(*)::int as n from app.work_counts`;
    expect(before!.n).toBeGreaterThan(0);
    await new Janitor({ db, log: engine.log }).sweep({ thorough: true });
    await check();
    const rows = await db.sql<{ worker_id: string }>`select distinct worker_id from app.work_counts`;
    expect(rows).toEqual([{ worker_id: "00000000-0000-0000-0000-000000000000" }]);
  });

  test("the counts of a worker are the same when a report is sent twice, comes late, or is folded twice", async () => {
    const { db, engine } = service;
    const worker_id = await register("late.type");
    const tally = new Tally();
    tally.claimed(3);
    const older = [...tally.counts];
    tally.completed(10);
    const newer = [...tally.counts];
    const beat = (counts: number[]) =>
      worker_commands.heartbeat(db, { worker_id, running: [], claims: [], counts: [["late.type", counts]] });
    for (const counts of [newer, newer, older]) expect(await beat(counts)).toMatchObject({ ok: true });
    const value = async () => {
      const told = await scrape();
      return [
        sampleValue(told, "fanfold_tasks_claimed_total", { task_type: "late.type" }),
        sampleValue(told, "fanfold_tasks_finished_total", { task_type: "late.type", outcome: "completed" }),
      ];
    };
    expect(await value()).toEqual([3, 1]);
    await worker_commands.stop_worker(db, { worker_id });
    for (let round = 0; round < 2; round++) await db.sql`select app.fold_counts()`;
    await expect(
      worker_commands.report_counts(db, { worker_id, counts: [["late.type", newer]] }),
    ).rejects.toMatchObject({ code: "FF007" });
    expect(await beat(newer)).toMatchObject({ ok: false });
    expect(await value()).toEqual([3, 1]);
    expect(engine.log).toBeDefined();
  });

  test("a worker that dies is counted with what it held, and what it had told is kept", async () => {
    const { db, engine } = service;
    const worker_id = await register("doomed.task");
    await engine.db.sql`select app.enqueue_alike('doomed.task', '[{}, {}, {}]', 'default')`;
    await worker_commands.claim(db, { worker_id, types: ["doomed.task"], limit: 2, after_tenant: null });
    await worker_commands.heartbeat(db, { worker_id, running: [], claims: [], counts: [["doomed.task", [2]]] });
    const running = await scrape();
    expect(sampleValue(running, "fanfold_tasks_running", { task_type: "doomed.task" })).toBe(2);
    expect(sampleValue(running, "fanfold_queue_tasks", { task_type: "doomed.task", state: "due" })).toBe(1);
    expect(sampleValue(running, "fanfold_queue_oldest_seconds", { task_type: "doomed.task" })).toBeGreaterThanOrEqual(
      0,
    );
    const lost = sampleValue(running, "fanfold_workers_lost_total");
    await db.sql`update app.workers set heartbeat_at = now() - interval '1 hour', started_at = now() - interval '2 hours' where worker_id = ${worker_id}::text::uuid`;
    await new Janitor({ db, log: engine.log }).sweep({ thorough: true });
    const told = await scrape();
    expect(sampleValue(told, "fanfold_workers_lost_total")).toBe(lost + 1);
    expect(sampleValue(told, "fanfold_tasks_lost_total", { task_type: "doomed.task" })).toBe(2);
    expect(sampleValue(told, "fanfold_tasks_claimed_total", { task_type: "doomed.task" })).toBe(2);
    expect(sampleValue(told, "fanfold_tasks_running", { task_type: "doomed.task" })).toBe(0);
    expect(sampleValue(told, "fanfold_janitor_age_seconds")).toBeLessThan(60);
  });

  test("what a worker says that is no count is left out, and its heartbeat is heard", async () => {
    const { db } = service;
    const worker_id = await register("odd.type");
    const odd = [
      ["odd.type", [1, -1]],
      ["odd.type", ["1"]],
      ['Bad Type"', [1]],
      ["odd.type"],
      5,
      null,
      ["odd.type", [7]],
      ["odd.type", [8]],
    ];
    expect(
      await worker_commands.heartbeat(db, { worker_id, running: [], claims: [], counts: odd as never }),
    ).toMatchObject({ ok: true });
    expect(
      await worker_commands.heartbeat(db, { worker_id, running: [], claims: [], counts: "x" as never }),
    ).toMatchObject({ ok: true });
    const rows =
      await db.sql`select task_type, counts::text from app.work_counts where worker_id = ${worker_id}::text::uuid`;
    expect(rows).toEqual([{ task_type: "odd.type", counts: "{7}" }]);
    await worker_commands.stop_worker(db, { worker_id });
  });

  test("of many tenants and task types the largest are named, and the others are one", async () => {
    const { db, engine } = service;
    for (let n = 0; n < 30; n++) {
      await db.sql`select app.create_tenant(${`many-${n}`})`;
      await db.sql`select app.enqueue_alike(${`many.type_${n}`}::text, ${JSON.stringify(Array(n + 1).fill({}))}::text, ${`many-${n}`}::text)`;
    }
    const told = await scrape();
    const tenants = told.get("fanfold_tenant_queue_tasks")!.samples.filter(({ labels }) => labels.state === "due");
    expect(tenants.length).toBe(21);
    expect(sampleValue(told, "fanfold_tenant_queue_tasks", { tenant: "many-29", state: "due" })).toBe(30);
    expect(sampleValue(told, "fanfold_tenant_queue_tasks", { tenant: "_other", state: "due" })).toBeGreaterThan(0);
    const [all] = await db.sql<{ n: number }>`select sum(hi - lo)::int as n from app.ready`;
    expect(tenants.reduce((sum, { value }) => sum + value, 0)).toBe(all!.n);
    expect(sampleValue(told, "fanfold_queue_due_tasks")).toBe(all!.n);
    expect((await readMetrics(engine.db)).queue.task_types.length).toBe(21);
  });

  test("requests are counted by route and status, and no caller can make a route", async () => {
    await service.call("GET", "/api/jobs?limit=1");
    await service.call("GET", `/api/nothing/${randomUUID()}`, { key: null });
    await service.call("GET", `/api/nothing/${randomUUID()}`, { key: null });
    await expect
      .poll(
        async () => {
          const told = readExposition((await service.call("GET", "/metrics", { key: token })).body);
          const ok = sampleValue(told, "fanfold_http_requests_total", {
            route: "/api/jobs",
            status: "200",
            method: "GET",
          });
          const none = told.get("fanfold_http_requests_total")!.samples.filter(({ labels }) => labels.route === "none");
          const timed = sampleValue(told, "fanfold_http_request_duration_seconds_count", { route: "/api/jobs" });
          return (
            ok >= 1 &&
            timed >= 1 &&
            none.length === 1 &&
            none[0]!.value >= 2 &&
            sampleValue(told, "fanfold_http_connections") > 0
          );
        },
        { timeout: 10_000 },
      )
      .toBe(true);
  });

  test("a scrape is kept for a second, however many ask", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => service.call("GET", "/metrics", { key: token })),
    );
    expect(new Set(answers.map(({ body }) => body)).size).toBeLessThanOrEqual(2);
  });

  async function register(task_type: string): Promise<string> {
    const worker_id = randomUUID();
    const facts = {
      worker_id,
      host: "test",
      pid: 1,
      version: "test",
      types: [task_type],
      slots: 2,
      connections: 0,
      lease_s: 30,
    };
    await worker_commands.register_worker(service.db, facts);
    return worker_id;
  }
});

describe("what a scrape costs", () => {
  test("neither tasks nor results are read, by scan or by key", async () => {
    const { db, engine } = service;
    const touched = () => db.sql`
      select relname, seq_scan, seq_tup_read, coalesce(idx_scan, 0) as idx_scan, coalesce(idx_tup_fetch, 0) as idx_tup_fetch
        from pg_stat_user_tables
       where schemaname = 'app' and relname in ('tasks', 'results', 'attempts', 'task_logs', 'events') order by 1`;
    const settled = async () => {
      await db.sql`select pg_stat_force_next_flush()`;
      await db.sql`select pg_stat_clear_snapshot()`;
      return touched();
    };
    const before = await settled();
    const scan = await engine.db.transaction(async (tx) => {
      const [read] = await tx.sql<{ n: number }>`select json_array_length(app.read_metrics() -> 'tallies') as n`;
      // Of this transaction alone, before it is told to anybody.
      const xact = await tx.sql<{ relname: string }>`
        select relname from pg_stat_xact_user_tables
         where schemaname = 'app' and relname in ('tasks', 'results', 'attempts', 'task_logs', 'events')
           and (seq_scan > 0 or coalesce(idx_scan, 0) > 0)`;
      const ready = await tx.sql`select seq_scan > 0 as looked from pg_stat_xact_user_tables where relname = 'ready'`;
      return { read, xact, ready };
    });
    expect(scan.xact).toEqual([]);
    expect(scan.ready).toEqual([{ looked: true }]);
    await scrape();
    expect(await settled()).toEqual(before);
  });

  test("open jobs are counted by their index, whatever the history", async () => {
    const plan = await service.db.transaction(async (tx) => {
      await tx.script("set local enable_seqscan = off");
      return tx.sql<{ "QUERY PLAN": string }>`explain select count(*) from app.jobs j where j.finished_at is null`;
    });
    expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).toContain("open_jobs");
  });
});

describe("a database in trouble", () => {
  test("one that does not answer is a metric, and the process still tells of itself", async () => {
    const lines: unknown[] = [];
    const engine = Object.create(service.engine, {
      db: { value: { ...service.engine.db, transaction: () => Promise.reject(new Error("gone")) } },
      log: { value: { ...service.engine.log, warn: (line: unknown) => lines.push(line) } },
    });
    const app = createApp({ engine, metrics_token: token });
    const answer = await app.inject({ url: "/metrics", headers: { authorization: `Bearer ${token}` } });
    const told = readExposition(answer.body);
    await app.close();
    expect(sampleValue(told, "fanfold_database_up")).toBe(0);
    expect(sampleValue(told, "process_resident_memory_bytes")).toBeGreaterThan(0);
    expect(told.has("fanfold_workers")).toBe(false);
    expect(lines).toHaveLength(1);
  });
});

test("labels and help are escaped as the format asks", () => {
  const family = new Family("odd", "gauge", 'a\\b\n"c"').sample(Number.POSITIVE_INFINITY, { what: 'say "hi"\\\nbye' });
  const told = readExposition(exposition([family, new Family("empty", "gauge", "none")]));
  expect([...told.keys()]).toEqual(["odd"]);
  expect(told.get("odd")!.samples).toEqual([
    { name: "odd", labels: { what: 'say "hi"\\\nbye' }, value: Number.POSITIVE_INFINITY },
  ]);
});

describe("the files for Prometheus and Grafana", () => {
  const used = (text: string) => [...new Set(text.match(/\b(fanfold|process|nodejs)_[a-z0-9_]+\b/g) ?? [])];
  test("every metric they name is one that is told", async () => {
    await service.call("GET", "/api/health/live");
    const told = new Map([
      ...(await scrape()),
      ...readExposition((await service.call("GET", "/metrics", { key: token })).body),
    ]);
    const names = new Set([...told.keys()].flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]));
    const grafana = JSON.parse(await readFile("deploy/grafana/fanfold.json", "utf8"));
    const queries = JSON.stringify(
      grafana.panels.map(({ targets }: { targets?: { expr: string }[] }) => targets?.map(({ expr }) => expr)),
    );
    const alerts = await readFile("deploy/prometheus/alerts.yml", "utf8");
    expect(used(queries).length).toBeGreaterThan(15);
    expect(used(alerts).length).toBeGreaterThan(4);
    // What this database has not: parts of a later version, and alerts.
    const parts = { webhooks: { pending: 0, oldest_s: 0 }, schedules: { enabled: 0, lag_s: 0 } };
    const all = { ...(await readMetrics(service.engine.db)), parts };
    all.tallies = [...all.tallies, ["alerts", "any", 1]];
    for (const { name } of databaseFamilies(all)) names.add(name);
    expect([...used(queries), ...used(alerts)].filter((name) => !names.has(name))).toEqual([]);
  });
});
