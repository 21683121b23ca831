// Tenants, as real login roles see them: only their own rows, no way to become another, and no writing but through verbs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { freshDatabase } from "../postgres.js";
import { claim, finish, one, register, submit } from "./floor.js";

describe("tenants on a server", () => {
  let admin: Database;
  let drop: () => Promise<void>;
  const sessions: Database[] = [];
  const logins = { acme: "", globex: "", nobody: "", server: "", worker: "" };
  let as: Record<keyof typeof logins, Database>;

  beforeAll(async () => {
    const fresh = await freshDatabase();
    admin = fresh.db;
    drop = fresh.drop;
    await admin.sql`select app.create_tenant('acme'), app.create_tenant('globex')`;
    const suffix = Math.random().toString(36).slice(2, 8);
    as = {} as typeof as;
    for (const login of Object.keys(logins) as (keyof typeof logins)[]) {
      logins[login] = `ff_${login}_${suffix}`;
      await admin.script(`create role ${logins[login]} login; grant fanfold_api, fanfold_worker to ${logins[login]}`);
      const url = new URL(fresh.url);
      url.username = logins[login];
      as[login] = openServer(url.href);
      sessions.push(as[login]);
    }
    await admin.sql`select app.map_role(${logins.acme}::text::name, 'acme'), app.map_role(${logins.globex}::text::name, 'globex'),
      app.map_role(${logins.server}::text::name, null), app.map_role(${logins.worker}::text::name, 'acme')`;
    for (const tenant of ["acme", "globex"]) {
      await submit(
        admin,
        [
          { name: "only", task: "t.only" },
          { name: "next", task: "t.next" },
        ],
        { tenant },
        { tenant },
      );
      await admin.sql`select app.enqueue('t.lone', '{}', idempotency_key => 'same', tenant => ${tenant})`;
    }
    const worker = await register(admin);
    await finish(admin, worker, await claim(admin, worker, ["t.only"]));
    await claim(admin, worker, ["t.next"]);
  });

  afterAll(async () => {
    for (const session of sessions) await session.close();
    await drop();
    for (const login of Object.values(logins)) await dropRole(login);
  });

  async function dropRole(login: string): Promise<void> {
    const { admin_url } = await import("../postgres.js").then(({ realServer }) => realServer());
    const db = openServer(admin_url);
    await db.script(`drop role if exists ${login}`);
    await db.close();
  }

  const tables = [
    "jobs",
    "stages",
    "stage_progress",
    "tasks",
    "ready",
    "claims",
    "results",
    "attempts",
    "task_logs",
    "workers",
    "events",
    "file_places",
    "blueprint_stages",
    "blueprints",
    "task_drafts",
    "paused_types",
    "limits",
    "idempotency_keys",
    "tenants",
    "tenant_roles",
    "tenant_origins",
    "api_keys",
    "sessions",
    "saved_blueprints",
    "registered_blueprints",
    "tenant_usage",
    "webhook_endpoints",
    "webhook_deliveries",
    "webhook_attempts",
    "job_dependencies",
    "dependents_locks",
    "job_groups",
    "group_changes",
    "schedules",
    "schedule_ticks",
    "connector_configs",
    "host_states",
    "host_slots",
    "assets",
    "zone_sweeps",
    "job_tallies",
    "saved_views",
    "rate_minutes",
    "uploads",
    "removed_stages",
    "retention_rounds",
    "platform.recipes",
    "platform.registered_recipes",
    "platform.saved_recipes",
    "platform.requests",
    "platform.request_jobs",
    "platform.assets",
    "platform.releases",
  ];
  const placed = (table: string) => (table.includes(".") ? table : `app.${table}`);
  /** Not even their tenant reads these: a hash of a secret is of no use to anybody, nor is a sealed one. */
  const closed = ["api_keys", "sessions", "webhook_endpoints", "dependents_locks"];

  test("every table of the engine has row-level security enabled and forced, and carries a tenant", async () => {
    const open = await admin.sql`
      select c.relname from pg_class c
       where c.relnamespace in ('app'::regnamespace, 'platform'::regnamespace) and c.relkind = 'r' and c.relname not like 'schema_%'
         and not (c.relrowsecurity and c.relforcerowsecurity
           -- The janitor's one row, the cell's and what is counted tell of no tenant; moves name tenants that live elsewhere.
           and (c.relname in ('cell', 'moved_tenants', 'moving_tenants', 'janitor', 'work_counts', 'tallies', 'lock_salt', 'duties', 'named_locks', 'rate_notes', 'rate_samples') or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')))`;
    expect(open).toEqual([]);
    const seen = await admin.sql<{ relname: string }>`
      select case when relnamespace = 'platform'::regnamespace then 'platform.' else '' end || relname as relname from pg_class
       where relnamespace in ('app'::regnamespace, 'platform'::regnamespace) and relkind = 'r' and relname not like 'schema_%'`;
    expect(seen.map(({ relname }) => relname).sort()).toEqual(
      [
        ...tables,
        "cell",
        "duties",
        "handler_statements",
        "janitor",
        "lock_salt",
        "moved_tenants",
        "moving_tenants",
        "named_locks",
        "rate_notes",
        "rate_samples",
        "retention_rules",
        "tallies",
        "work_counts",
      ].sort(),
    );
  });

  test("a login role mapped to a tenant sees only its own rows", async () => {
    for (const table of ["jobs", "stages", "tasks", "results", "claims", "ready", "events", "task_states"]) {
      const rows = await as.acme.sql<{ tenant_id: string }>(template(`select distinct tenant_id from app.${table}`));
      expect([table, rows]).toEqual([table, [{ tenant_id: "acme" }]]);
    }
  });

  test("why tells a tenant of its own jobs only, and not on which machine a worker of all tenants runs", async () => {
    const job = (tenant: string) =>
      one(admin.sql<{ job_id: string }>`select job_id from app.jobs where tenant_id = ${tenant}`);
    const why = async (session: Database, id: string) =>
      (await one(session.sql<{ reply: Record<string, unknown> }>`select app.why(${id}) as reply`)).reply;
    const stage = await one(admin.sql<{ task: string }>`
      select stage_id || '-0' as task from app.claims where tenant_id = 'acme'`);
    const own = await why(as.acme, stage.task);
    expect(own).toMatchObject({ code: "CLAIMED", evidence: { worker: { worker_id: expect.any(String) } } });
    expect(JSON.stringify(own)).not.toContain('"host"');
    expect(JSON.stringify(await why(admin, stage.task).catch((error: Error) => error.message))).toContain(
      "there is no task",
    );
    expect(await why(as.acme, (await job("acme")).job_id)).toMatchObject({ code: "RUNNING" });
    await expect(why(as.acme, (await job("globex")).job_id)).rejects.toMatchObject({ code: "FF001" });
    await expect(why(as.nobody, (await job("acme")).job_id)).rejects.toMatchObject({ code: "FF005" });
  });

  test("no setting turns one tenant into another", async () => {
    const attempts = [
      "set fanfold.tenant = 'globex'",
      "set app.tenant_id = 'globex'",
      "set role fanfold_api",
      "set role fanfold_worker",
      "select set_config('fanfold.tenant', 'globex', false)",
      "set row_security = off",
    ];
    for (const attempt of attempts) {
      const rows = await as.acme
        .transaction(async (tx) => {
          await tx.script(attempt);
          return tx.sql<{ tenant_id: string }>`select distinct tenant_id from app.jobs`;
        })
        .catch((error: { code: string }) => error.code);
      expect([attempt, rows]).toEqual([attempt, attempt.includes("row_security") ? "42501" : [{ tenant_id: "acme" }]]);
      await as.acme.script("reset role; reset all");
    }
    for (const forbidden of [
      `set role ${logins.globex}`,
      `set session authorization ${logins.globex}`,
      "set role fanfold_owner",
    ]) {
      await expect(as.acme.script(forbidden)).rejects.toMatchObject({ code: "42501" });
    }
  });

  test("a verb that names another tenant is refused, and another tenant's job does not exist", async () => {
    await expect(as.acme.sql`select app.enqueue('t.lone', '{}', tenant => 'globex')`).rejects.toMatchObject({
      code: "FF005",
    });
    const theirs = await one(admin.sql<{ job_id: string }>`select job_id from app.jobs where tenant_id = 'globex'`);
    const task = await one(admin.sql<{ task_id: string }>`
      select stage_id || '-' || ordinal as task_id from app.tasks where tenant_id = 'globex' order by stage_id desc limit 1`);
    for (const [verb, call] of [
      ["get_job", () => as.acme.sql`select app.get_job(${theirs.job_id})`],
      ["cancel_job", () => as.acme.sql`select app.cancel_job(${theirs.job_id})`],
      ["list_events", () => as.acme.sql`select app.list_events(${theirs.job_id})`],
      ["get_task", () => as.acme.sql`select app.get_task(${task.task_id})`],
      ["cancel_task", () => as.acme.sql`select app.cancel_task(${task.task_id})`],
      ["reschedule_task", () => as.acme.sql`select app.reschedule_task(${task.task_id}, now())`],
    ] as const) {
      await expect(call(), verb).rejects.toMatchObject({ code: "FF001" });
    }
  });

  test("the same idempotency key of two tenants is two tasks", async () => {
    const rows = await admin.sql`select tenant_id from app.idempotency_keys order by tenant_id`;
    expect(rows).toEqual([{ tenant_id: "acme" }, { tenant_id: "globex" }]);
  });

  test("a role mapped to no tenant sees nothing and writes nothing", async () => {
    for (const table of tables.filter((one) => !closed.includes(one))) {
      expect([table, await as.nobody.sql(template(`select 1 from ${placed(table)}`))]).toEqual([table, []]);
    }
    for (const call of [
      as.nobody.sql`select app.enqueue('t.lone')`,
      as.nobody.sql`select app.submit('{"type":"x","stages":[{"name":"a","task":"t.a"}]}')`,
      as.nobody.sql`select app.enqueue('t.lone', tenant => 'acme')`,
      as.nobody.sql`select app.list_jobs()`,
      register(as.nobody),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "FF005" });
    }
  });

  test("the keys are closed even to their tenant and to the server, but through verbs", async () => {
    for (const session of [as.acme, as.nobody, as.server, as.worker]) {
      for (const table of closed) {
        const read = session.sql(template(`select 1 from ${placed(table)}`));
        await expect(read, table).rejects.toMatchObject({ code: "42501" });
      }
    }
  });

  test("what concerns several tenants is for the server's role only", async () => {
    for (const call of [
      "app.find_key('abcdefghijkm')",
      "app.touch_keys('[]')",
      "app.list_tenants()",
      "app.get_tenant('globex')",
      `app.add_tenant('{"tenant_id": "evil"}')`,
      `app.rename_tenant('{"tenant_id": "globex", "name": "x"}')`,
      `app.change_limits('{"tenant": "acme", "limits": {"queued_tasks": null}}')`,
      "app.get_limits('globex')",
      "app.list_keys(tenant => 'globex')",
      "app.get_key('abcdefghijkm', 'globex')",
      `app.create_key('{"tenant": "globex"}')`,
      `app.rotate_key('{"tenant": "globex", "key_id": "abcdefghijkm"}')`,
      `app.revoke_key('{"tenant": "globex", "key_id": "abcdefghijkm"}')`,
    ]) {
      await expect(as.acme.script(`select ${call}`), call).rejects.toMatchObject({ code: "FF005" });
    }
  });

  test("tables cannot be written but through functions, not even one's own rows", async () => {
    for (const session of [as.acme, as.server, as.worker]) {
      for (const table of tables) {
        for (const statement of [
          `delete from ${placed(table)}`,
          `update ${placed(table)} set tenant_id = 'acme'`,
          `insert into ${placed(table)} default values`,
          `truncate ${placed(table)}`,
        ]) {
          await expect(session.script(statement), statement).rejects.toMatchObject({ code: "42501" });
        }
      }
    }
  });

  test("internal functions cannot be called from outside", async () => {
    for (const call of [
      "app.settle(null,null,null,null,null)",
      "app.wake('{}')",
      "app.note('acme','x',null)",
      "app.put_back(null, null, 0)",
      "app.abandon_workers()",
      "app.map_role('postgres','acme')",
      "app.create_tenant('evil')",
    ]) {
      await expect(as.acme.script(`select ${call}`), call).rejects.toMatchObject({ code: "42501" });
    }
  });

  test("every function that runs with its owner's rights pins its search path", async () => {
    const loose = await admin.sql`
      select p.proname from pg_proc p
       where p.pronamespace = 'app'::regnamespace and p.prosecdef
         and not coalesce(p.proconfig::text like '%search_path=pg_catalog, app, pg_temp%', false)`;
    expect(loose).toEqual([]);
    const foreign = await admin.sql`
      select p.proname from pg_proc p
       where p.pronamespace = 'app'::regnamespace and pg_get_userbyid(p.proowner) <> 'fanfold_owner'`;
    // The one that runs what isolated handlers say.
    expect(foreign).toEqual([{ proname: "run_as_handler" }]);
    const everybody = await admin.sql`
      select p.proname from pg_proc p where p.pronamespace = 'app'::regnamespace and has_function_privilege('public', p.oid, 'execute')`;
    expect(everybody).toEqual([]);
  });

  test("the server's role acts for the tenant it names, and without one for the default tenant", async () => {
    const named = await submit(as.server, [{ name: "only", task: "t.served" }], {}, { tenant: "globex" });
    expect(await one(admin.sql`select tenant_id from app.jobs where job_id = ${named.job_id}`)).toEqual({
      tenant_id: "globex",
    });
    const rows = await as.server.transaction(async (tx) => {
      await tx.sql`select set_config('fanfold.tenant', 'acme', true)`;
      return tx.sql`select distinct tenant_id from app.jobs`;
    });
    expect(rows).toEqual([{ tenant_id: "acme" }]);
    expect(await as.server.sql`select 1 from app.jobs`).toEqual([]);
  });

  test("a worker mapped to a tenant claims only that tenant's tasks", async () => {
    for (const tenant of ["acme", "globex"]) await admin.sql`select app.enqueue('t.mapped', tenant => ${tenant})`;
    const worker = await register(as.worker);
    const tasks = await claim(as.worker, worker, ["t.mapped"]);
    expect(tasks.length).toBe(1);
    expect(await admin.sql`select tenant_id from app.claims where worker_id = ${worker}::text::uuid`).toEqual([
      { tenant_id: "acme" },
    ]);
  });

  test("a worker mapped to a tenant cannot speak for a worker it did not register", async () => {
    const shared = await register(admin);
    await admin.sql`select app.enqueue('t.shared', tenant => 'globex')`;
    const tasks = await claim(admin, shared, ["t.shared"]);
    const claim_id = tasks[0]!.claim_id;
    for (const [verb, call] of [
      ["finish", () => finish(as.worker, shared, tasks, () => ({ result: { forged: true } }))],
      ["claim", () => claim(as.worker, shared, ["t.shared"])],
      ["release", () => worker_commands.release(as.worker, { worker_id: shared, items: [{ c: claim_id, o: [1] }] })],
      ["stop_worker", () => worker_commands.stop_worker(as.worker, { worker_id: shared })],
      ["set_idle", () => worker_commands.set_idle(as.worker, { worker_id: shared, idle: true })],
      ["write_logs", () => worker_commands.write_logs(as.worker, { worker_id: shared, lines: "[]" })],
      ["plan_stage", () => worker_commands.plan_stage(as.worker, { worker_id: shared, claim_id })],
    ] as const) {
      await expect(call(), verb).rejects.toMatchObject({ code: "FF007" });
    }
    expect(await worker_commands.heartbeat(as.worker, { worker_id: shared, running: [], claims: [] })).toMatchObject({
      ok: false,
    });
    expect((await finish(admin, shared, tasks)).accepted).toBe(1);
  });

  function template(text: string): TemplateStringsArray {
    return Object.assign([text], { raw: [text] });
  }
});
