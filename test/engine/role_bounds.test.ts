// What sessions of a login role start with: given when the role is mapped and when the schema is migrated, by whoever may.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { session_bounds } from "../../src/engine/database/session_bounds.js";
import { migrate } from "../../src/engine/schema/migrate.js";
import { freshDatabase, realServer } from "../postgres.js";

const mark = Math.random().toString(36).slice(2, 8);
const [tenant, server, chief] = [`ff_tenant_${mark}`, `ff_server_${mark}`, `ff_chief_${mark}`];
let db: Database;
let url: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ db, url, drop } = await freshDatabase());
  await db.script(`
    create role ${tenant} login; create role ${server} login; create role ${chief} login in role fanfold_admin;
    grant fanfold_api, fanfold_worker to ${tenant}, ${server}`);
});

afterAll(async () => {
  await drop();
  const admin = openServer((await realServer()).admin_url);
  await admin.script(`drop role if exists ${tenant}, ${server}, ${chief}`);
  await admin.close();
});

const names = [
  "idle_in_transaction_session_timeout",
  "lock_timeout",
  "statement_timeout",
  "temp_file_limit",
  "work_mem",
];

async function settingsOf(role: string, options = {}): Promise<Record<string, string>> {
  const own = new URL(url);
  own.username = role;
  const session = openServer(own.href, options);
  try {
    const rows = await session.sql<{ name: string; value: string }>`
      select n as name, current_setting(n) as value from unnest(${`{${names.join()}}`}::text[]) n`;
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  } finally {
    await session.close();
  }
}

test("the tables in docs/bounds.md are those of the code", async () => {
  const text = await readFile(new URL("../../docs/bounds.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, cells]) => [
    name!,
    ...cells!.split(" | "),
  ]);
  const seconds = (value: number) => (value === 0 ? "0" : `${value} s`);
  const ours = Object.entries(session_bounds).map(([name, bounds]) => [
    name,
    ...[bounds.statement_timeout_s, bounds.lock_timeout_s, bounds.idle_in_transaction_s].map(seconds),
    `${bounds.work_mem_mb} MB`,
  ]);
  const roles = await db.sql<{ role: string; values: string[] }>`
    select r.role, (select json_agg(b.value) from app.role_bounds(r.role = 'server') b) as values
      from (values ('server'), ('tenant')) as r(role)`;
  expect(rows).toEqual([...ours, ...roles.map(({ role, values }) => [role, ...values])]);
});

test("a role that is mapped has bounds in this database, tighter ones for a tenant", async () => {
  await db.sql`select app.map_role(${server}::text::name, null), app.map_role(${tenant}::text::name, 'default')`;
  expect(await settingsOf(server)).toEqual({
    statement_timeout: "5min",
    lock_timeout: "20s",
    idle_in_transaction_session_timeout: "1min",
    work_mem: "16MB",
    temp_file_limit: "2GB",
  });
  expect(await settingsOf(tenant)).toEqual({
    statement_timeout: "1min",
    lock_timeout: "10s",
    idle_in_transaction_session_timeout: "30s",
    work_mem: "8MB",
    temp_file_limit: "1GB",
  });
});

test("connections of ours have bounds of their own, whatever their role has", async () => {
  await db.sql`select app.map_role(${server}::text::name, null)`;
  expect(await settingsOf(server, session_bounds.heartbeat)).toMatchObject({
    statement_timeout: "20s",
    work_mem: "4MB",
    temp_file_limit: "2GB",
  });
});

test("a transaction that a tenant's login leaves open is ended, and lets go of what it locked", async () => {
  const own = new URL(url);
  own.username = tenant;
  await db.script(`alter role ${tenant} set idle_in_transaction_session_timeout = '200ms'`);
  await db.script(`alter role ${tenant} in database ${db_name()} reset idle_in_transaction_session_timeout`);
  const session = openServer(own.href);
  try {
    const left = session.transaction(async (tx) => {
      await tx.sql`select pg_advisory_xact_lock(4711)`;
      await new Promise(() => {});
    });
    await expect(left).rejects.toMatchObject({ code: "08006" });
    // Waits no longer than the other is idle.
    await db.sql`select pg_advisory_lock(4711), pg_advisory_unlock(4711)`;
  } finally {
    await session.close();
  }
});

const db_name = () => new URL(url).pathname.slice(1);

test("what somebody has set stays; migrate gives the rest to roles that were mapped before", async () => {
  await db.script(`
    alter role ${server} in database ${db_name()} reset all;
    alter role ${server} set work_mem = '33MB';
    update app.schema_functions set hash = 'of an older release' where name = 'bound_roles'`);
  await migrate(db);
  expect(await settingsOf(server)).toMatchObject({
    work_mem: "33MB",
    statement_timeout: "5min",
    temp_file_limit: "2GB",
  });
});

test("whoever may map but not alter roles maps all the same", async () => {
  await db.script(`alter role ${tenant} in database ${db_name()} reset all`);
  const own = new URL(url);
  own.username = chief;
  const session = openServer(own.href);
  try {
    await session.sql`select app.map_role(${tenant}::text::name, 'default')`;
    const rows = await session.sql<{
      name: string;
    }>`select name from app.unset_bounds(${tenant}::text::name, false) order by name`;
    expect(rows.map(({ name }) => name)).toEqual(
      names.filter((name) => name !== "idle_in_transaction_session_timeout"),
    );
  } finally {
    await session.close();
  }
});
