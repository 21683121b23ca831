// Brings a database's schema up to the code's: migrations once and in order, functions whenever their file changed, all
// in one transaction under one lock. Reads `db/`, writes schema `app`; needs a role that may create roles and schemas.
import { fault } from "../../fault.js";
import { type Database, DatabaseError, type Queryable, quoteName } from "../database/database.js";
import { type CatalogChoice, type CatalogState, migrateCatalog } from "./catalog_schema.js";
import { refuseOldWorkers } from "./contracts.js";
import {
  isLater,
  type Migration,
  placeOf,
  readSchemaFolder,
  type SchemaFolder,
  type SqlFunction,
  schema_folder,
} from "./schema_folder.js";
import { SchemaMismatch } from "./schema_mismatch.js";
import { applyFile, dropFunction, replaceFunction, schemaOwner, turn_of_migrations } from "./sql_files.js";

export { SchemaMismatch };

export interface MigrateOptions {
  /** Where `migrations/` and `functions/` are (default: the package's own `db/`). */
  folder?: string;
  /** The catalogue too, where the database has PostGIS or can have it (default: "off"). */
  catalog?: CatalogChoice;
  /** How long one try waits for a lock before it lets everybody else pass and tries again. */
  lock_timeout_s?: number;
  /** Also what live workers of older releases still need (contracts.ts). */
  force?: boolean;
}

export interface Migrated {
  applied: string[];
  /** Functions made, replaced or dropped. */
  functions: string[];
  version: number;
  /** When the catalogue was asked for. */
  catalog?: CatalogState;
}

export interface SchemaState {
  /** Null where Fanfold has never been installed. */
  database_version: number | null;
  code_version: number;
  /** What `migrate` would do, in order. */
  pending: string[];
}

/** Less than the server's deadlock_timeout of one second: a migration that meets the calls of others gives up, and not one of them. */
const default_lock_timeout_s = 0.5;
const patience_ms = 60_000;
/** Somebody holds a table, or another migration runs: nothing has happened yet, so ask again. */
const asked_again = new Set(["55P03", "40P01"]);
/** When two processes make the schema at once, the second is told by one of these that it is there. */
const made_by_another = new Set(["23505", "42P06", "42P07"]);

export async function migrate(db: Database, options: MigrateOptions = {}): Promise<Migrated> {
  const { catalog = "off" } = options;
  const migrated = await migrateApp(db, options);
  return catalog === "off" ? migrated : { ...migrated, catalog: await migrateCatalog(db, { choice: catalog }) };
}

async function migrateApp(db: Database, options: MigrateOptions): Promise<Omit<Migrated, "catalog">> {
  const code = await readSchemaFolder(options.folder ?? schema_folder);
  const version = code.migrations.length;
  // Most starts find nothing to do, and should neither wait for the lock nor need the right to migrate.
  if ((await compare(db, code)).pending.length === 0) return { applied: [], functions: [], version };
  const until = performance.now() + patience_ms;
  for (;;) {
    try {
      return await db.transaction((tx) => migrateInside(tx, code, options));
    } catch (error) {
      const again = error instanceof DatabaseError && asked_again.has(error.code) && performance.now() < until;
      if (!again) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400));
    }
  }
}

export async function schemaState(db: Queryable, options: MigrateOptions = {}): Promise<SchemaState> {
  const code = await readSchemaFolder(options.folder ?? schema_folder);
  const database = await readDatabase(db);
  const { pending } = differences(code, database);
  return { database_version: database?.version ?? null, code_version: code.migrations.length, pending };
}

/** Throws unless the database is exactly what the code was written for. */
export async function assertCurrent(db: Queryable, options: MigrateOptions = {}): Promise<void> {
  const { pending } = await compare(db, await readSchemaFolder(options.folder ?? schema_folder));
  if (pending.length === 0) return;
  const few = pending.slice(0, 3).join(", ") + (pending.length > 3 ? ` and ${pending.length - 3} more` : "");
  throw new SchemaMismatch(
    `the database's schema is older than this version of Fanfold: ${few} missing. Run: fanfold migrate`,
  );
}

interface Installed {
  version: number;
  /** The latest release that wrote functions here. */
  release: string;
  migrations: Map<number, { name: string; hash: string }>;
  functions: Map<string, string>;
}

async function readDatabase(db: Queryable): Promise<Installed | null> {
  const [row] = await db.sql<{
    installed: boolean;
  }>`select to_regclass('app.schema_migrations') is not null as installed`;
  if (!row?.installed) return null;
  const migrations = await db.sql<{ version: number; name: string; hash: string }>`
    select version, name, hash from app.schema_migrations order by version`;
  const functions = await db.sql<{
    name: string;
    hash: string;
    release: string;
  }>`select name, hash, release from app.schema_functions order by name`;
  return {
    version: migrations.at(-1)?.version ?? 0,
    release: functions.reduce((latest, { release }) => (isLater(release, latest) ? release : latest), "0.0.0"),
    migrations: new Map(migrations.map((one) => [one.version, one])),
    functions: new Map(functions.map((one) => [one.name, one.hash])),
  };
}

export async function compare(db: Queryable, code: SchemaFolder): Promise<Differences> {
  const database = await readDatabase(db);
  if (database) refuseForeign(code, database);
  return differences(code, database);
}

/** Neither a database that is ahead, nor one whose history is not ours, may be touched. */
function refuseForeign(code: SchemaFolder, database: Installed): void {
  if (database.version > code.migrations.length) {
    throw new SchemaMismatch(
      `the database's schema is at version ${database.version}, newer than this version of Fanfold, which knows ` +
        `${code.migrations.length}. Update Fanfold; fanfold migrate never goes back`,
    );
  }
  if (isLater(database.release, code.release)) {
    throw new SchemaMismatch(
      `the database's functions are of Fanfold ${database.release}, newer than this ${code.release}. ` +
        "Update Fanfold; fanfold migrate never goes back",
    );
  }
  for (const { version, name, hash } of code.migrations) {
    const applied = database.migrations.get(version);
    if (applied === undefined || applied.hash === hash) continue;
    throw new SchemaMismatch(
      `migration ${version} (${applied.name}) was applied to this database with another text than ${name} has now. ` +
        "Applied migrations never change: restore the file and write a new migration, then run: fanfold migrate",
    );
  }
}

interface Differences {
  migrations: Migration[];
  functions: SqlFunction[];
  vanished: string[];
  pending: string[];
}

function differences(code: SchemaFolder, database: Installed | null): Differences {
  const migrations = code.migrations.filter(({ version }) => !database?.migrations.has(version));
  const functions = code.functions.filter(({ name, hash }) => database?.functions.get(name) !== hash);
  const wanted = new Set(code.functions.map(({ name }) => name));
  const vanished = [...(database?.functions.keys() ?? [])].filter((name) => !wanted.has(name));
  const pending = [...migrations, ...functions].map((one) => one.name).concat(vanished.map((name) => `drop ${name}`));
  return { migrations, functions, vanished, pending };
}

/** Migrations run one at a time. Their table is the lock: a role that may only read it cannot hold it, as it could an advisory lock. */
async function takeTurn(tx: Queryable, lock_timeout_s: number): Promise<void> {
  try {
    await tx.script(`
      set local lock_timeout = '${Math.ceil(lock_timeout_s * 1000)}ms';
      set local statement_timeout = 0;
      set local client_min_messages = warning;
      create schema if not exists app;
      create table if not exists app.schema_migrations (
        version integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now());
      create table if not exists app.schema_functions (
        name text primary key, hash text not null, release text not null, applied_at timestamptz not null default now());
      ${turn_of_migrations};
      set local check_function_bodies = off`);
  } catch (error) {
    if (!(error instanceof DatabaseError) || !made_by_another.has(error.code)) throw error;
    throw new DatabaseError("55P03", `another process makes the schema at this moment (${error.message})`);
  }
}

/**
 * All tables before the first change, in the order in which calls lock them: a try that does not get them has done nothing yet, and is
 * soon made again. One that took them as its statements need them would hold some of them while it waits for others.
 */
async function takeTables(tx: Queryable, owner: string | null): Promise<void> {
  const tables = await lockedTables(tx, owner);
  if (tables.length === 0) return;
  if (owner !== null) await tx.script(`set local role ${quoteName(owner)}`);
  await tx.script(`lock table ${tables.join(", ")} in access exclusive mode; reset role`);
}

/** By name, in the order in which they are locked. */
export async function lockedTables(db: Queryable, owner: string | null): Promise<string[]> {
  const tables = await db.sql<{ name: string }>`
    select format('%I.%I', n.nspname, c.relname) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('app', 'platform') and c.relkind = 'r' and c.relname not like 'schema\_%'
       and c.relowner = coalesce(${owner}::text::regrole, current_user::regrole)
     order by array_position(array['ready', 'claims', 'stage_progress', 'jobs', 'stages'], c.relname::text), 1`;
  return tables.map(({ name }) => name);
}

async function migrateInside(
  tx: Queryable,
  code: SchemaFolder,
  { lock_timeout_s = default_lock_timeout_s, force = false }: MigrateOptions,
): Promise<Omit<Migrated, "catalog">> {
  await takeTurn(tx, lock_timeout_s);
  // Another process may have migrated while this one waited for the lock.
  const needed = await compare(tx, code);
  if (needed.migrations.length > 0) {
    const before = await schemaOwner(tx, "app");
    // Once without keeping anybody waiting, and again when no worker can be written down any more.
    if (!force) await refuseOldWorkers(tx, needed.migrations, before);
    await takeTables(tx, before);
    if (!force) await refuseOldWorkers(tx, needed.migrations, before);
  }
  for (const { version, name, hash, text, path } of needed.migrations) {
    await applyFile(tx, path, text);
    await tx.sql`
      insert into app.schema_migrations (version, name, hash) values (${version}::integer, ${name}, ${hash})`;
  }
  // A migration may be what gives it away.
  const owner = await schemaOwner(tx, "app");
  for (const name of needed.vanished) {
    const place = placeOf(name);
    await dropFunction(tx, place.schema, place.name);
    await tx.sql`delete from app.schema_functions where name = ${name}`;
  }
  for (const one of needed.functions) {
    const place = placeOf(one.name);
    await replaceFunction(tx, place.schema, { ...one, name: place.name }, owner);
    await tx.sql`
      insert into app.schema_functions (name, hash, release) values (${one.name}, ${one.hash}, ${code.release})
      on conflict (name) do update set hash = excluded.hash, release = excluded.release, applied_at = now()`;
  }
  // Roles that were mapped before there were bounds get theirs; a folder of a test may have no such function.
  if (code.functions.some(({ name }) => name === "bound_roles")) await tx.sql`select app.bound_roles()`;
  await fault("migrate-before-commit");
  return {
    applied: needed.migrations.map(({ name }) => name),
    functions: [...needed.functions.map(({ name }) => name), ...needed.vanished],
    version: code.migrations.length,
  };
}
