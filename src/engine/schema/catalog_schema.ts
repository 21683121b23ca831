// Installs what needs PostGIS: the catalogue in schema `stac`, with the functions that reach into pgSTAC where that is installed, and the
// vector layers' schema `geo`. Apart from the migrations of `app`, because a database without PostGIS is a whole Fanfold but for these.
import { join } from "node:path";
import { type Database, type Queryable, quoteName } from "../database/database.js";
import {
  type PgstacBeside,
  pgstac_fix,
  pgstac_grants,
  pgstacBeside,
  probePgstac,
  rememberRefusal,
} from "./pgstac_schema.js";
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
  /** Null where the built-in catalogue is used. */
  pgstac: string | null;
  /** That there is a pgSTAC which is not used, and why. */
  pgstac_refused: string | null;
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
  /** Where it is to be used. */
  pgstac: string | null;
  beside: PgstacBeside | null;
}

const oldest_postgis = [3, 3];

export async function migrateCatalog(db: Database, options: CatalogOptions = {}): Promise<CatalogState> {
  const code = await readCatalogFolder(options.folder);
  const { choice = "auto" } = options;
  // A pgSTAC that failed is tried again: somebody may have mended it since.
  const before = await stateOf(db, code, choice, true);
  if (before.obstacle !== null || before.pending.length === 0) return before;
  return db.transaction(async (tx) => {
    await tx.script(`
      set local lock_timeout = '${Math.ceil((options.lock_timeout_s ?? 60) * 1000)}ms';
      ${turn_of_migrations};
      set local client_min_messages = warning;
      set local check_function_bodies = off`);
    if ((await surroundings(tx, choice)).postgis === null) await tx.script("create extension if not exists postgis");
    const around = await surroundings(tx, choice, true);
    const obstacle = obstacleIn(around, choice);
    if (obstacle !== null) throw new SchemaMismatch(`${obstacle.problem}: ${obstacle.fix}`);
    for (const part of code) {
      if (part.schema === "stac" && around.pgstac !== null) await installOnPgstac(tx, part, around, choice);
      else await install(tx, part, around);
    }
    return stateOf(tx, code, choice);
  });
}

export async function catalogState(db: Queryable, options: CatalogOptions = {}): Promise<CatalogState> {
  return stateOf(db, await readCatalogFolder(options.folder), options.choice ?? "auto");
}

async function stateOf(db: Queryable, code: SchemaPart[], choice: CatalogChoice, again = false): Promise<CatalogState> {
  const around = await surroundings(db, choice, again);
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
  const { beside, pgstac } = around;
  if (pgstac !== null && beside?.lacks_rights) pending.push("rights on functions of pgSTAC");
  return {
    database_version: versions[0] ?? null,
    code_version: code[0]?.migrations.length ?? 0,
    pending: obstacle === null ? pending : [],
    postgis: around.postgis?.version ?? null,
    pgstac,
    pgstac_refused: choice === "stac" || !beside?.refusal ? null : refusedText(beside),
    obstacle,
  };
}

function obstacleIn(
  { postgis, postgis_available, is_superuser, pgstac, beside }: Surroundings,
  choice: CatalogChoice,
): CatalogState["obstacle"] {
  // What the catalogue holds would seem to be gone if the built-in one took its place.
  const is_lost = choice !== "stac" && beside?.is_in_use;
  if (beside?.refusal && (choice === "pgstac" || is_lost)) return { problem: refusedText(beside), fix: pgstac_fix };
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

function refusedText({ version, refusal }: PgstacBeside): string {
  return `pgSTAC ${version} cannot be used: ${refusal}`;
}

/** `again`: a probe that failed before counts for nothing. */
async function surroundings(db: Queryable, choice: CatalogChoice, again = false): Promise<Surroundings> {
  const [row] = await db.sql<{
    version: string | null;
    schema: string | null;
    available: boolean;
    is_superuser: boolean;
  }>`
    select
      (select extversion from pg_extension where extname = 'postgis') as version,
      (select nspname::text from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'postgis') as schema,
      exists (select from pg_available_extensions where name = 'postgis') as available,
      (select rolsuper from pg_roles where rolname = current_user) as is_superuser`;
  const { version = null, schema = null, available = false, is_superuser = false } = row ?? {};
  const beside = await pgstacBeside(db, again);
  return {
    postgis: version === null || schema === null ? null : { version, schema },
    postgis_available: available,
    is_superuser,
    pgstac: choice === "stac" || beside?.refusal ? null : (beside?.version ?? null),
    beside,
  };
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

/** With the functions for pgSTAC, where a real item can be written into it; else without them, and what failed is kept. */
async function installOnPgstac(tx: Queryable, code: SchemaPart, around: Surroundings, choice: CatalogChoice) {
  const beside = around.beside!;
  await tx.script("savepoint on_pgstac");
  await install(tx, code, around);
  const why = await probePgstac(tx);
  if (why !== null && (choice === "pgstac" || beside.is_in_use)) {
    throw new SchemaMismatch(`${refusedText({ ...beside, refusal: why })}: ${pgstac_fix}`);
  }
  if (why !== null) {
    await tx.script("rollback to savepoint on_pgstac");
    await install(tx, code, { ...around, pgstac: null });
  }
  await rememberRefusal(tx, beside, why);
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
