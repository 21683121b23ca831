// Installs what needs PostGIS: the catalogue in schema `stac`, with the functions that reach into pgSTAC where that is installed, and the
// vector layers' schema `geo`. Apart from the migrations of `app`, because a database without PostGIS is a whole Fanfold but for these.
import { join } from "node:path";
import { type Database, type Queryable, quoteName } from "../database/database.js";
import {
  type Migration,
  readRelease,
  readSql,
  readVersioned,
  type SqlFunction,
  schema_folder,
} from "./schema_folder.js";
import { SchemaMismatch } from "./schema_mismatch.js";
import { applyFile, dropFunction, replaceFunction, schemaOwner, turn_of_migrations } from "./sql_files.js";

export interface CatalogState {
  /** Null where the catalogue is not installed. */
  database_version: number | null;
  code_version: number;
  pending: string[];
  postgis: string | null;
  pgstac: string | null;
  /** What keeps the catalogue from being installed, and what to do. */
  obstacle: { problem: string; fix: string } | null;
}

/** "auto": what the database can have. "stac": the built-in one even beside pgSTAC. "pgstac": on pgSTAC or not at all. */
export type CatalogChoice = "auto" | "stac" | "pgstac" | "off";

export interface CatalogOptions {
  choice?: CatalogChoice;
  /** Where `catalog/` and `geo/` are (default: the package's own `db`). */
  folder?: string;
  lock_timeout_s?: number;
}

/** What one schema is to hold; `pgstac`: only beside that. */
interface SchemaPart {
  schema: "stac" | "geo";
  release: string;
  migrations: Migration[];
  functions: SqlFunction[];
  pgstac: SqlFunction[];
}

interface Surroundings {
  postgis: { version: string; schema: string } | null;
  postgis_available: boolean;
  is_superuser: boolean;
  pgstac: string | null;
}

const oldest_postgis = [3, 3];

export async function migrateCatalog(db: Database, options: CatalogOptions = {}): Promise<CatalogState> {
  const code = await readCatalogFolder(options.folder);
  const { choice = "auto" } = options;
  const before = await stateOf(db, code, choice);
  if (before.obstacle !== null || before.pending.length === 0) return before;
  return db.transaction(async (tx) => {
    await tx.script(`
      set local lock_timeout = '${Math.ceil((options.lock_timeout_s ?? 60) * 1000)}ms';
      ${turn_of_migrations};
      set local client_min_messages = warning;
      set local check_function_bodies = off`);
    if ((await surroundings(tx, choice)).postgis === null) await tx.script("create extension if not exists postgis");
    const around = await surroundings(tx, choice);
    const obstacle = obstacleIn(around, choice);
    if (obstacle !== null) throw new SchemaMismatch(`${obstacle.problem}: ${obstacle.fix}`);
    for (const part of code) await install(tx, part, around);
    return stateOf(tx, code, choice);
  });
}

export async function catalogState(db: Queryable, options: CatalogOptions = {}): Promise<CatalogState> {
  return stateOf(db, await readCatalogFolder(options.folder), options.choice ?? "auto");
}

async function stateOf(db: Queryable, code: SchemaPart[], choice: CatalogChoice): Promise<CatalogState> {
  const around = await surroundings(db, choice);
  const obstacle = obstacleIn(around, choice);
  const pending: string[] = [];
  const versions: (number | null)[] = [];
  for (const part of code) {
    const installed = await readInstalled(db, part.schema);
    const { migrations, functions, vanished } = differences(part, installed, around);
    versions.push(installed === null ? null : installed.migrations.size);
    pending.push(...[...migrations, ...functions].map(({ name }) => `${part.schema}.${name}`));
    pending.push(...vanished.map((name) => `drop ${part.schema}.${name}`));
  }
  return {
    database_version: versions[0] ?? null,
    code_version: code[0]?.migrations.length ?? 0,
    pending: obstacle === null ? pending : [],
    postgis: around.postgis?.version ?? null,
    pgstac: around.pgstac,
    obstacle,
  };
}

function obstacleIn(
  { postgis, postgis_available, is_superuser, pgstac }: Surroundings,
  choice: CatalogChoice,
): CatalogState["obstacle"] {
  if (choice === "pgstac" && pgstac === null) {
    return {
      problem: "FANFOLD_CATALOG=pgstac, and pgSTAC is not installed in this database",
      fix: "install it (pip install pypgstac; pypgstac migrate), then run: fanfold migrate; or set FANFOLD_CATALOG=auto",
    };
  }
  if (postgis !== null) {
    const [major = 0, minor = 0] = postgis.version.split(".").map(Number);
    const [least_major = 0, least_minor = 0] = oldest_postgis;
    if (major > least_major || (major === least_major && minor >= least_minor)) return null;
    return {
      problem: `PostGIS ${postgis.version} is too old for the catalogue`,
      fix: `update it to ${oldest_postgis.join(".")} or later, then run: fanfold migrate`,
    };
  }
  if (!postgis_available) {
    return {
      problem: "PostGIS is not installed on the database's server, so there is no catalogue",
      fix: "install the server's package (postgresql-NN-postgis-3), then run: fanfold migrate",
    };
  }
  if (is_superuser) return null;
  return {
    problem: "PostGIS is not enabled in this database, so there is no catalogue",
    fix: "as a superuser in this database: create extension postgis; then run: fanfold migrate",
  };
}

async function surroundings(db: Queryable, choice: CatalogChoice): Promise<Surroundings> {
  const [row] = await db.sql<{
    version: string | null;
    schema: string | null;
    available: boolean;
    is_superuser: boolean;
    has_pgstac: boolean;
    reads_pgstac: boolean;
  }>`
    select
      (select extversion from pg_extension where extname = 'postgis') as version,
      (select nspname::text from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'postgis') as schema,
      exists (select from pg_available_extensions where name = 'postgis') as available,
      (select rolsuper from pg_roles where rolname = current_user) as is_superuser,
      -- Of the releases up to 0.9: our functions read and write their tables, and a later one has others.
      p.oid is not null and 5 = (
        select count(*) from pg_attribute a join pg_class t on t.oid = a.attrelid
         where t.relnamespace = p.relnamespace
           and (t.relname = 'items' and a.attname in ('geometry', 'datetime', 'end_datetime', 'content') or t.relname = 'collections' and a.attname = 'base_item')
      ) as has_pgstac,
      coalesce(has_schema_privilege(p.relnamespace, 'usage') and has_table_privilege(p.oid, 'select'), false) as reads_pgstac
    from (select 1) one
    left join (pg_class p join pg_namespace n on n.oid = p.relnamespace and n.nspname = 'pgstac') on p.relname = 'migrations'`;
  const {
    version = null,
    schema = null,
    available = false,
    is_superuser = false,
    has_pgstac = false,
    reads_pgstac = false,
  } = row ?? {};
  return {
    postgis: version === null || schema === null ? null : { version, schema },
    postgis_available: available,
    is_superuser,
    pgstac: has_pgstac && choice !== "stac" ? await pgstacVersion(db, reads_pgstac) : null,
  };
}

/** Whoever may not read pgSTAC itself is told by our functions for it, where they are installed. */
async function pgstacVersion(db: Queryable, is_readable: boolean): Promise<string | null> {
  if (is_readable) {
    const [row] = await db.sql<{ version: string }>`
      select version from pgstac.migrations order by datetime desc, version desc limit 1`;
    return row?.version ?? null;
  }
  const [row] = await db.sql<{ installed: boolean }>`
    select exists (
      select from pg_proc p join pg_namespace n on n.oid = pronamespace
       where nspname = 'stac' and proname = 'catalog_facts' and has_schema_privilege(n.oid, 'usage')
         and has_function_privilege(p.oid, 'execute')) as installed`;
  if (!row?.installed) return null;
  const [facts] = await db.sql<{ reply: { pgstac: string | null } }>`select stac.catalog_facts() as reply`;
  return facts?.reply.pgstac ?? null;
}

interface Installed {
  migrations: Map<number, { name: string; hash: string }>;
  functions: Map<string, string>;
}

async function readInstalled(db: Queryable, schema: SchemaPart["schema"]): Promise<Installed | null> {
  const [row] = await db.sql<{ installed: boolean }>`
    select exists (
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = ${schema} and c.relname = 'schema_migrations' and has_schema_privilege(n.oid, 'usage')) as installed`;
  if (!row?.installed) return null;
  type Migrations = { version: number; name: string; hash: string }[];
  type Functions = { name: string; hash: string }[];
  const migrations: Migrations =
    schema === "stac"
      ? await db.sql`select version, name, hash from stac.schema_migrations order by version`
      : await db.sql`select version, name, hash from geo.schema_migrations order by version`;
  const functions: Functions =
    schema === "stac"
      ? await db.sql`select name, hash from stac.schema_functions order by name`
      : await db.sql`select name, hash from geo.schema_functions order by name`;
  return {
    migrations: new Map(migrations.map((one) => [one.version, one])),
    functions: new Map(functions.map(({ name, hash }) => [name, hash])),
  };
}

function differences(code: SchemaPart, installed: Installed | null, around: Surroundings) {
  for (const { version, name, hash } of code.migrations) {
    const applied = installed?.migrations.get(version);
    if (applied === undefined || applied.hash === hash) continue;
    throw new SchemaMismatch(
      `migration ${version} of schema ${code.schema} (${applied.name}) was applied with another text than ${name} has now. ` +
        "Applied migrations never change: restore the file and write a new one, then run: fanfold migrate",
    );
  }
  const newest = Math.max(0, ...(installed?.migrations.keys() ?? []));
  if (newest > code.migrations.length) {
    throw new SchemaMismatch(
      `schema ${code.schema} is at version ${newest}, newer than this version of Fanfold, which knows ` +
        `${code.migrations.length}. Update Fanfold; fanfold migrate never goes back`,
    );
  }
  // The schema of PostGIS is written into the functions: they are other functions when it moves.
  const wanted = [...code.functions, ...(around.pgstac === null ? [] : code.pgstac)].map((one) => ({
    ...one,
    hash: `${one.hash} ${postgisSchema(around)}`,
  }));
  const names = new Set(wanted.map(({ name }) => name));
  return {
    migrations: code.migrations.filter(({ version }) => !installed?.migrations.has(version)),
    functions: wanted.filter(({ name, hash }) => installed?.functions.get(name) !== hash),
    vanished: [...(installed?.functions.keys() ?? [])].filter((name) => !names.has(name)),
  };
}

function postgisSchema({ postgis }: Surroundings): string {
  return postgis?.schema ?? "public";
}

async function install(tx: Queryable, code: SchemaPart, around: Surroundings): Promise<void> {
  const { schema } = code;
  const filled = (text: string) => text.replaceAll("@postgis@", quoteName(postgisSchema(around)));
  await tx.script(`
    create schema if not exists ${schema};
    create table if not exists ${schema}.schema_migrations (
      version integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now());
    create table if not exists ${schema}.schema_functions (
      name text primary key, hash text not null, release text not null, applied_at timestamptz not null default now())`);
  const needed = differences(code, await readInstalled(tx, schema), around);
  const record = async (table: string, columns: string, values: (string | number)[]) => {
    const texts = values.map((value) => `'${String(value).replaceAll("'", "''")}'`);
    await tx.script(`insert into ${schema}.${table} (${columns}) values (${texts.join(", ")})`);
  };
  for (const { version, name, hash, text, path } of needed.migrations) {
    await applyFile(tx, path, filled(text));
    await record("schema_migrations", "version, name, hash", [version, name, hash]);
  }
  if (schema === "stac" && around.pgstac !== null) await tx.script(pgstac_grants);
  const owner = await schemaOwner(tx, schema);
  const forget = (name: string) => tx.script(`delete from ${schema}.schema_functions where name = '${name}'`);
  for (const name of needed.vanished) {
    await dropFunction(tx, schema, name);
    await forget(name);
  }
  for (const one of needed.functions) {
    await replaceFunction(tx, schema, { ...one, text: filled(one.text) }, owner);
    await forget(one.name);
    await record("schema_functions", "name, hash, release", [one.name, one.hash, code.release]);
  }
}

/**
 * What our functions need there, and their owner alone has: it reads, and writes items and collections. Tenants' logins get nothing
 * of pgSTAC's, because pgSTAC knows no tenants.
 */
const pgstac_grants = `
  grant usage on schema pgstac to fanfold_owner;
  grant select on all tables in schema pgstac to fanfold_owner;
  grant insert, update, delete on pgstac.items, pgstac.collections, pgstac.items_staging, pgstac.items_staging_upsert to fanfold_owner`;

async function readCatalogFolder(folder = schema_folder): Promise<SchemaPart[]> {
  const release = await readRelease();
  const part = async (schema: SchemaPart["schema"], name: string): Promise<SchemaPart> => ({
    schema,
    release,
    migrations: await readVersioned(join(folder, name), "migrations"),
    functions: await readSql(join(folder, name), "functions"),
    pgstac: schema === "stac" ? await readSql(join(folder, name), "pgstac") : [],
  });
  return [await part("stac", "catalog"), await part("geo", "geo")];
}
