// Databases that tests use one after the other: cloning one takes a third of a second, emptying it a few milliseconds. A test
// gives its database back, connections included, to the next one of its process; what that has more of at the end of a file than a
// file usually needs is left for the other process. A database that is still in use when it is given back, or whose schema was
// changed, is dropped instead, so that no test finds what another one did.
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { type Database, quoteName } from "../src/engine/database/database.js";
import { openServer } from "../src/engine/database/server_database.js";
import { atFileEnd } from "./file_end.js";
import type { FreshDatabase, RealServer } from "./postgres.js";
import { onAdmin, templatePrefix } from "./postgres_server.js";

interface Lent {
  server: RealServer;
  template: string;
  name: string;
  db: Database;
  /** Of its schema, when it was new. */
  shape: string;
}

const application_name = "fanfold test";

/** Given back in this process, with their connections: those have their functions compiled. */
const idle: Lent[] = [];
/** How many stay open from one file to the next. */
const kept_open = 3;

export async function lendDatabase(server: RealServer, template: string): Promise<FreshDatabase> {
  const lent = idle.pop() ?? (await leftByAnother(server, template)) ?? (await cloned(server, template));
  let given_back: Promise<void> | null = null;
  return { db: lent.db, url: server.url_for(lent.name), drop: () => (given_back ??= giveBack(lent)) };
}

async function cloned(server: RealServer, template: string): Promise<Lent> {
  const name = `${templatePrefix(inject("shared_dir"))}lent_${randomBytes(6).toString("hex")}`;
  await onAdmin(server.admin_url, (admin) => admin.script(`create database ${name} template ${template}`));
  const db = opened(server, name);
  return { server, template, name, db, shape: (await stateOf(db)).shape };
}

function opened(server: RealServer, name: string): Database {
  return openServer(server.url_for(name), { max: 4, application_name });
}

async function giveBack(lent: Lent): Promise<void> {
  if (await isAsNew(lent)) idle.push(lent);
  else {
    await lent.db.close();
    await onAdmin(lent.server.admin_url, (admin) =>
      admin.script(`drop database if exists ${quoteName(lent.name)} with (force)`),
    );
  }
}

async function isAsNew({ db, shape }: Lent): Promise<boolean> {
  try {
    // A connection that was closed is gone from the server a moment later.
    for (let looks = 0; ; looks++) {
      const state = await stateOf(db);
      if (state.shape !== shape || looks === 20) return false;
      if (state.others === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await emptyDatabase(db);
    return true;
  } catch {
    // The test has closed it, or taken it down.
    return false;
  }
}

/** What its schema is like, and how many others work in it. Truncating leaves new files behind, which the shape leaves out. */
async function stateOf(db: Database): Promise<{ shape: string; others: number }> {
  const [state] = await db.sql<{ shape: string; others: number }>`
    with ours as materialized (
      select c.* from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname !~ '^(pg_|information_schema$)' and c.relpersistence <> 't')
    select md5(concat(
             (select string_agg(concat_ws(' ', oid, relname, relnamespace, relowner, relkind, relacl, reloptions,
                                          relrowsecurity, relforcerowsecurity), ';' order by oid) from ours),
             (select string_agg(concat_ws(' ', oid, nspname, nspacl), ';' order by oid) from pg_namespace
               where nspname !~ '^pg_'),
             (select string_agg(concat_ws(' ', oid, xmin), ';' order by oid) from pg_proc where oid >= 16384),
             (select string_agg(concat_ws(' ', a.attrelid, a.attnum, a.xmin), ';' order by a.attrelid, a.attnum)
                from pg_attribute a join ours on ours.oid = a.attrelid),
             (select string_agg(concat_ws(' ', oid, xmin), ';' order by oid) from pg_trigger),
             (select string_agg(concat_ws(' ', oid, xmin), ';' order by oid) from pg_constraint where oid >= 16384),
             (select string_agg(concat_ws(' ', oid, xmin), ';' order by oid) from pg_policy),
             (select string_agg(concat_ws(' ', oid, xmin), ';' order by oid) from pg_extension))) as shape,
           (select count(*)::int from pg_stat_activity
             where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
               and (application_name <> ${application_name} or state <> 'idle')) as others`;
  return state!;
}

/**
 * As it was migrated: no rows but the first ones, sequences from their start, and no settings of its own. Rows are deleted where
 * they are few, because a connection plans its statements anew when a table was truncated, which takes longer than many tests.
 */
export async function emptyDatabase(db: Database): Promise<void> {
  await db.script(`
    do $$
    declare
      written record;
      role_name name;
    begin
      set local client_min_messages = warning;
      -- Tables refer to each other: none of them is to be looked at because of another.
      set local session_replication_role = replica;
      for written in
        select oid::regclass as name, pg_relation_size(oid) as bytes from pg_class
         where relnamespace in ('app'::regnamespace, 'platform'::regnamespace) and relkind = 'r' and pg_relation_size(oid) > 0
           and relname not like 'schema\\_%' and relname <> 'lock_salt'
      loop
        if written.bytes > 1000000 then execute format('truncate %s cascade', written.name);
        else execute format('delete from %s', written.name);
        end if;
      end loop;
      perform setval(format('%I.%I', schemaname, sequencename), start_value, false)
         from pg_sequences where schemaname in ('app', 'platform') and last_value is not null;
      insert into app.tenants (tenant_id, name) values ('default', 'Default tenant');
      insert into app.janitor default values;
      for role_name in
        select r.rolname from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
         where s.setdatabase = (select oid from pg_database where datname = current_database())
      loop
        execute format('alter role %I in database %I reset all', role_name, current_database());
      end loop;
    end $$`);
}

function folderOf(template: string): string {
  return join(inject("shared_dir"), `left_${template}`);
}

async function leftByAnother(server: RealServer, template: string): Promise<Lent | null> {
  const folder = folderOf(template);
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    try {
      const shape = await readFile(path, "utf8");
      // Of two files that see it one can remove it.
      await unlink(path);
      return { server, template, name, db: opened(server, name), shape };
    } catch {
      // Another was quicker.
    }
  }
  return null;
}

atFileEnd(async () => {
  for (const { template, name, db, shape } of idle.splice(kept_open)) {
    await db.close();
    const folder = folderOf(template);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), shape);
  }
});
