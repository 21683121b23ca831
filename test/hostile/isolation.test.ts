// A handler in a process of its own that means harm: what it says to the database, reads of the worker, and leaves behind for others.
import { execFile } from "node:child_process";
import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { fenceModules, userOfTenant } from "../../src/worker/isolation/fence.js";
import { startWorker, type Worker } from "../../src/worker/worker.js";
import { freshDatabase, realServer } from "../postgres.js";
import { node_args } from "../worker/isolation_shop.js";
import { eventually } from "../worker/shop.js";
import * as hostile from "./isolation_handlers.js";

const role = `ff_server_${Math.random().toString(36).slice(2, 8)}`;
const { says_sql, records_sql, has_no_database, spies, swaps } = hostile;
const registry = createRegistry({ handlers: [says_sql, records_sql, has_no_database, spies, swaps] });
const ordinary_user = 54_321;
/** Nobody's but the worker's. */
let dir: string;
let db: Database;
let engine: Engine;
let worker: Worker;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  ({ db, drop } = fresh);
  await db.script(`
    create role ${role} login in role fanfold_api, fanfold_worker; select app.map_role('${role}', null);
    select app.create_tenant('evil'), app.create_tenant('acme');
    create table public.loot (what text); grant all on public.loot to fanfold_handler;
    create table public.notes (tenant_id text default app.current_tenant(), note text);
    alter table public.notes enable row level security;
    create policy own on public.notes using (tenant_id = app.current_tenant());
    grant all on public.notes to fanfold_handler;
    insert into public.notes values ('acme', 'acme-TOP-SECRET')`);
  const own = new URL(fresh.url);
  own.username = role;
  dir = await mkdtemp(join(tmpdir(), "fanfold-hostile-"));
  await writeFile(join(dir, "secret.txt"), "worker-TOP-SECRET", { mode: 0o600 });
  engine = await openEngine({ database_url: own.href, registry, tenant: "evil", storage_dir: join(dir, "storage") });
  worker = await startWorker(engine, { isolation_node_args: node_args, slots: 2 });
});

afterAll(async () => {
  await worker.stop();
  await engine.close();
  await rm(dir, { recursive: true, force: true });
  await drop();
  const admin = openServer((await realServer()).admin_url);
  await admin.script(`drop role if exists ${role}`);
  await admin.close();
});

async function fate(task_type: string, parameters: Record<string, unknown>) {
  const { task_id } = await engine.enqueue(task_type, parameters, { max_attempts: 1 });
  let task = await engine.task(task_id);
  await eventually(async () => {
    task = await engine.task(task_id);
    return task.finished_at !== null;
  });
  return task;
}

/** What each way came to; a refusal begins with its code. */
async function tried(ways: Record<string, string | string[]>): Promise<Record<string, unknown>> {
  const task = await fate("says_sql", {
    ways: Object.fromEntries(Object.entries(ways).map(([k, v]) => [k, [v].flat()])),
  });
  expect(task.error).toBeNull();
  return task.result as Record<string, unknown>;
}

const codes = (answers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(answers).map(([way, said]) => [way, String(said).split(":")[0]]));

test("its statements see its own tenant, whatever it says", async () => {
  const answers = await tried({
    named: ["select set_config('fanfold.tenant', 'acme', true)", "select note from public.notes"],
    named_for_good: ["select set_config('fanfold.tenant', 'acme', false)", "select note from public.notes"],
    at_once: "select set_config('fanfold.tenant', 'acme', true), note from public.notes",
    inside:
      "select query_to_xml('select set_config(''fanfold.tenant'', ''acme'', true)', true, true, '') is null as x, app.current_tenant() as t",
    tenant: "select app.current_tenant() as t, current_user::text as u",
    as_acme: "insert into public.notes values ('acme', 'forged')",
  });
  expect(answers).toMatchObject({
    named: [],
    named_for_good: [],
    at_once: [],
    inside: [{ t: "evil" }],
    tenant: [{ t: "evil", u: "fanfold_handler" }],
    as_acme: expect.stringContaining("42501"),
  });
  const own = ["insert into public.notes (note) values ('mine')", "select tenant_id, note from public.notes"];
  expect(await tried({ own })).toEqual({ own: [{ tenant_id: "evil", note: "mine" }] });
});

test("it has no role but its own, and no right that it was not granted", async () => {
  const answers = await tried({
    role: "select set_config('role', 'none', true)",
    role_of_server: `select set_config('role', '${role}', false)`,
    role_inside: "select query_to_xml('select set_config(''role'', ''none'', true)', true, true, '')",
    authorization: "select set_config('session_authorization', 'default', true)",
    jobs: "select * from app.jobs",
    verb: `select app.list_jobs('{"tenant":"acme"}')`,
    itself: "select app.handler_sql('acme', 'select 1', '[]', true, 'public')",
    unbound: "select app.run_as_handler('select 1', '[]', true, 'public')",
    unbind: "delete from app.handler_statements",
    sessions:
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = session_user and pid <> pg_backend_pid()",
    cancel:
      "select pg_cancel_backend(pid) from pg_stat_activity where usename = session_user and pid <> pg_backend_pid()",
    file: "select pg_read_file('/etc/passwd')",
    import: "select lo_import('/etc/passwd')",
    folder: "select pg_ls_dir('/')",
    config: "select pg_reload_conf()",
  });
  expect(codes(answers)).toEqual(Object.fromEntries(Object.keys(answers).map((way) => [way, "42501"])));
  const { queries } = await tried({
    queries: "select distinct query from pg_stat_activity where usename = session_user and pid <> pg_backend_pid()",
  });
  expect(queries).toEqual([{ query: "<insufficient privilege>" }]);
});

test("it says queries and changes of rows, one at a time, and nothing that would reach beyond them", async () => {
  const others = [
    "set role none",
    "reset role",
    "/* a /* b */ */ set local role none",
    "-- c\n;set session authorization default",
    "commit",
    "rollback",
    "begin",
    "savepoint a",
    "release a",
    "prepare transaction 'a'",
    "discard all",
    "end",
    "do $$ begin execute 'reset role'; end $$",
    "call app.protect('x')",
    "create temp table t (x int)",
    "lock public.loot",
    "create function f() returns int language sql as 'select 1'",
    "copy public.loot to stdout",
    "copy public.loot from stdin",
    "listen fanfold_ready",
    "notify fanfold_ready",
    "declare c cursor with hold for select 1",
    "fetch c",
    "prepare p as select 1",
    "execute p",
    "deallocate all",
    "explain analyze select 1",
    "vacuum",
    "alter role current_user superuser",
    "load 'x'",
  ];
  const refused = await tried(Object.fromEntries(others.map((text) => [text, text])));
  expect(new Set(Object.values(codes(refused)))).toEqual(new Set(["bad_statement"]));
  const two = await tried({ two: "select 1; reset role", hidden: "select 1 as a; create temp table notes ()" });
  expect(codes(two)).toEqual({ two: "42601", hidden: "42601" });
});

test("nothing of it stays for the next statement, nor for whoever has the connection next", async () => {
  const answers = await tried({
    sets: `select set_config('search_path', 'pg_temp', false), set_config('work_mem', '1GB', false),
      set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', true), set_config('fanfold.tenant', 'acme', false)`,
    seen: `select current_setting('search_path') as path, current_setting('work_mem') as memory, current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock, current_setting('fanfold.tenant') as tenant`,
    shadow: "select 'shadow'::text as what into temp loot",
    shadowed: [
      "insert into loot values ('seen')",
      "select relname from pg_class where relnamespace = pg_my_temp_schema()",
    ],
    locks: "select pg_advisory_lock(4242)",
    locks_and_fails: "select pg_advisory_lock(4243), 1 / 0",
    good: "select 1 as n",
  });
  expect(answers).toMatchObject({
    seen: [{ path: '"$user", public', memory: "16MB", statement: "30s", lock: "5s", tenant: "evil" }],
    shadowed: [],
    good: [{ n: 1 }],
  });
  expect(await db.sql`select what from public.loot`).toEqual([{ what: "seen" }]);
  expect(await db.sql`select objid from pg_locks where locktype = 'advisory' and objid in (4242, 4243)`).toEqual([]);
  await db.sql`delete from public.loot`;
});

test("what it keeps for its finish is bound in the same way", async () => {
  const done = await fate("records_sql", {
    statements: [
      "select set_config('fanfold.tenant', 'acme', false)",
      "insert into public.notes (note) values ('kept')",
    ],
  });
  expect(done.status).toBe("completed");
  expect(await db.sql`select tenant_id from public.notes where note = 'kept'`).toEqual([{ tenant_id: "evil" }]);
  const failed = await fate("records_sql", {
    statements: ["insert into public.notes (note) values ('undone')", "select set_config('role', 'none', true)"],
  });
  expect(failed).toMatchObject({ status: "failed", error: { code: "sqlstate_42501" } });
  expect(await db.sql`select from public.notes where note = 'undone'`).toEqual([]);
});

test("one whose declaration does not ask for the database has none, not even over the channel itself", async () => {
  const { result } = await fate("has_no_database", {});
  const words =
    'this handler runs in a process of its own, and has no database: say database: true beside isolation: "process"';
  expect(result).toEqual({
    now: expect.stringContaining(`no_database: ${words}`),
    later: expect.stringContaining("no_database"),
  });
  expect(await db.sql`select from public.loot`).toEqual([]);
});

/** Where this project lies, not everybody may be able to read it. */
async function fenceHere(): Promise<{ is_fenced: boolean; is_readable: boolean }> {
  const scratch = await mkdtemp(join(tmpdir(), "fanfold-fence-"));
  const { fence, others } = await fenceModules("auto", [spies.options.module!], scratch);
  await rm(scratch, { recursive: true });
  return { is_fenced: fence.kind === "user" && others.size === 0, is_readable: others.size === 0 };
}

const { is_fenced, is_readable } = await fenceHere();

test.runIf(is_fenced)(
  "as a user of its own it reaches nothing of the worker, and uses scratch and storage as ever",
  async () => {
    await mkdir(join(dir, "other"), { mode: 0o700 });
    const parameters = {
      worker: process.pid,
      kept: join(dir, "secret.txt"),
      store: join(dir, "storage"),
      other: join(dir, "other"),
    };
    const { result, error } = await fate("spies", parameters);
    expect(error).toBeNull();
    const uid = userOfTenant("evil");
    const refused = {
      environ: "EACCES",
      parent: "EACCES",
      thread: "EACCES",
      memory: "EACCES",
      descriptors: "EACCES",
      folder: "EACCES",
      kill: "EPERM",
    };
    expect(result).toEqual({
      uid,
      groups: [uid],
      ...refused,
      kept: "EACCES",
      store: "EACCES",
      other_scratch: "EACCES",
      beside: "EACCES",
      root_file: "EACCES",
      stored: 2_500_000,
      read: 2_500_000,
      owner: uid,
    });
    expect(userOfTenant("acme")).not.toBe(uid);
  },
);

test.runIf(is_fenced)(
  "a path that leads out of its scratch directory is followed neither for it nor by the worker",
  async () => {
    await engine.zones.store("bronze", "evil").write(
      "in.txt",
      (async function* () {
        yield Buffer.from("from bronze");
      })(),
      { media_type: "text/plain", bytes: 11 },
    );
    const { result, error } = await fate("swaps", { kept: join(dir, "secret.txt") });
    expect(error).toBeNull();
    const { answers, content, left } = result as { answers: string[]; content: string; left: string[] };
    expect(answers[0]).toContain("bad_path");
    expect(answers[1]).toMatch(/^[0-9a-f]{64}$/);
    expect(answers[2]).toContain("bad_path");
    expect(content).toBe("from bronze");
    expect(left.filter((name) => name !== "second.txt")).toEqual(["away", "real"]);
  },
);

test.runIf(is_readable)(
  "the worker of an ordinary user keeps its environment and memory from them where the system has user namespaces",
  async () => {
    const own = await freshDatabase();
    onTestFinished(own.drop);
    const folder = await mkdtemp(join(tmpdir(), "fanfold-ordinary-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const user = process.getuid?.() === 0 ? { uid: ordinary_user, gid: ordinary_user } : {};
    if (user.uid !== undefined) await chown(folder, user.uid, user.uid);
    const script = fileURLToPath(new URL("./ordinary_worker.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [...node_args, script, folder], {
      ...user,
      env: { PATH: process.env.PATH, DATABASE_URL: own.url, FANFOLD_SECRET_ORDINARY: "ordinary-TOP-SECRET" },
    });
    const { kind, result } = JSON.parse(stdout);
    const { environ, parent, thread, memory, descriptors, folder: working, ...rest } = result;
    const looks = [environ, parent, thread, memory, descriptors, working];
    if (kind === "namespace") expect(looks).toEqual(looks.map(() => "EACCES"));
    else expect(environ).toContain("ordinary-TOP-SECRET");
    // What the docs say does not hold.
    expect(rest).toMatchObject({ uid: user.uid ?? process.getuid?.(), kept: "ordinary-file", kill: true });
    expect(rest).toMatchObject({ stored: 2_500_000, read: 2_500_000 });
  },
);
