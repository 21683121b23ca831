// Tests use databases one after the other. None finds anything that another did.
import { expect, test } from "vitest";
import type { Database, Queryable } from "../src/engine/database/database.js";
import { openServer } from "../src/engine/database/server_database.js";
import { drain, one, register, submit } from "./engine/floor.js";
import { freshDatabase } from "./postgres.js";

const asText = (text: string) => Object.assign([text], { raw: [text] });

/** All rows of all tables, in one order, without their times, and where sequences stand. */
async function everything(db: Queryable): Promise<Record<string, unknown>> {
  const tables = await db.sql<{ name: string }>`
    select relname::text as name from pg_class where relnamespace = 'app'::regnamespace and relkind = 'r' order by 1`;
  const found: Record<string, unknown> = {};
  for (const { name } of tables) {
    const rows = await db.sql<{ row: object }>(asText(`select to_jsonb(t) as row from app.${name} t`));
    // A scan of a large table may begin where another one is: rows come in any order.
    found[name] = rows
      .map(({ row }) => JSON.stringify(Object.entries(row).filter(([column]) => !column.endsWith("_at"))))
      .sort();
  }
  found.sequences =
    await db.sql`select sequencename::text, last_value::text from pg_sequences where schemaname = 'app'`;
  found.settings = await db.sql`
    select setrole::int, setconfig::text from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
     where d.datname = current_database()`;
  return found;
}

async function use(db: Database): Promise<void> {
  await db.sql`select app.create_tenant('acme')`;
  await submit(db, [{ name: "only", task: "t.only", plan: { count: 3 } }], {}, { options: { group_id: "some" } });
  await drain(db, await register(db, ["t.only"]), ["t.only"]);
  await db.sql`select app.enqueue('t.lone')`;
  const login = `ff_lent_${process.pid}`;
  await db.script(`create role ${login} login; grant fanfold_worker to ${login}`);
  await db.sql`select app.map_role(${login}::text::name, 'acme')`;
  const { name } = await one(db.sql<{ name: string }>`select current_database()::text as name`);
  await db.script(`alter role ${login} in database ${name} set work_mem = '1MB'`);
}

test("a database that was used is as a new one for the next test", async () => {
  const own = await freshDatabase({ own: true });
  const untouched = await everything(own.db);
  await own.drop();
  const first = await freshDatabase();
  await use(first.db);
  expect(await everything(first.db)).not.toEqual(untouched);
  await first.drop();
  const second = await freshDatabase();
  expect(second.url).toBe(first.url);
  expect(await everything(second.db)).toEqual(untouched);
  await second.db.script(`drop role ff_lent_${process.pid}`);
  await second.drop();
});

test.each([
  ["a table", "create table public.left_behind (a int)"],
  [
    "another text of a function",
    "create or replace function app.is_server() returns boolean language sql as 'select true'",
  ],
  ["a right", "grant select on app.jobs to public"],
])("a database with %s that others lack is given to no other test", async (_, change) => {
  const changed = await freshDatabase();
  await changed.db.script(change);
  await changed.drop();
  const next = await freshDatabase();
  expect(next.url).not.toBe(changed.url);
  await next.drop();
});

test("a database that somebody still works in is given to no other test", async () => {
  const used = await freshDatabase();
  const other = openServer(used.url);
  await other.sql`select 1`;
  await used.drop();
  await expect(other.sql`select 1`).rejects.toMatchObject({ name: "DatabaseError" });
  await other.close();
  const next = await freshDatabase();
  expect(next.url).not.toBe(used.url);
  await next.drop();
});
