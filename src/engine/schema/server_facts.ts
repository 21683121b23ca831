// What `fanfold doctor` wants to know of a database. Reads catalogues only, changes nothing, and works before the first
// migration as well. Judging the facts is the command line's part.
import type { Database } from "../database/database.js";
import { server_role } from "./server_role.js";

export interface ServerFacts {
  version: string;
  version_num: number;
  session_user: string;
  is_superuser: boolean;
  is_owner: boolean;
  now: Date;
  max_connections: number;
  reserved_connections: number;
  used_connections: number;
  missing_roles: string[];
  has_schema: boolean;
  may_use_schema: boolean;
  /** The role that we advise to serve with; roles are shared by all databases of a server. */
  server_role_exists: boolean;
}

export interface SchemaFacts {
  role: string;
  tables_without_security: string[];
  tables_without_force: string[];
  mapping: "tenant" | "server" | "none";
  mapped_tenant: string | null;
  /** Bounds that sessions of the role should start with, and do not. */
  unset_bounds: { name: string; value: string }[];
  database: string;
}

export interface WorkerFacts {
  live: number;
  silent: number;
  slots: number;
}

export async function readServerFacts(db: Database): Promise<ServerFacts> {
  const [row] = await db.sql<ServerFacts>`
    select
      current_setting('server_version') as version,
      current_setting('server_version_num')::int as version_num,
      session_user::text as session_user,
      (select rolsuper from pg_roles where rolname = session_user) as is_superuser,
      exists (
        select from pg_roles where rolname = 'fanfold_owner' and pg_has_role(session_user, oid, 'USAGE')) as is_owner,
      clock_timestamp() as now,
      current_setting('max_connections')::int as max_connections,
      current_setting('superuser_reserved_connections')::int as reserved_connections,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used_connections,
      (select coalesce(json_agg(wanted order by wanted), '[]'::json)
         from unnest(array['fanfold_owner', 'fanfold_api', 'fanfold_worker', 'fanfold_admin']) wanted
        where not exists (select from pg_roles where rolname = wanted)) as missing_roles,
      -- Not to_regclass: it raises where the role may not use the schema.
      exists (
        select from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'app' and c.relname = 'jobs') as has_schema,
      coalesce(
        (select has_schema_privilege(session_user, oid, 'USAGE') from pg_namespace where nspname = 'app'),
        true) as may_use_schema,
      exists (select from pg_roles where rolname = ${server_role}::text) as server_role_exists`;
  return row as ServerFacts;
}

export async function readSchemaFacts(db: Database): Promise<SchemaFacts> {
  const [row] = await db.sql<Pick<SchemaFacts, "role" | "tables_without_security" | "tables_without_force">>`
    with app_tables as (
      select c.relname, c.relrowsecurity, c.relforcerowsecurity
        from pg_class c
       where c.relnamespace = 'app'::regnamespace
         and c.relkind in ('r', 'p')
         and c.relname not in ('schema_migrations', 'schema_functions')
    )
    select
      session_user::text as role,
      (select coalesce(json_agg(relname order by relname), '[]'::json)
         from app_tables where not relrowsecurity) as tables_without_security,
      (select coalesce(json_agg(relname order by relname), '[]'::json)
         from app_tables where relrowsecurity and not relforcerowsecurity) as tables_without_force`;
  const mapping = await readMapping(db);
  return { ...(row as SchemaFacts), ...mapping, ...(await readBounds(db, mapping.mapping)) };
}

async function readBounds(
  db: Database,
  mapping: SchemaFacts["mapping"],
): Promise<Pick<SchemaFacts, "unset_bounds" | "database">> {
  const [row] = await db.sql<{ database: string }>`select current_database()::text as database`;
  const { database } = row!;
  // A schema that is still to be migrated has no such function, and is told of elsewhere.
  const [known] = await db.sql<{ known: boolean }>`
    select exists (
      select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = 'app' and p.proname = 'unset_bounds') as known`;
  if (mapping === "none" || !known?.known) return { unset_bounds: [], database };
  const unset_bounds = await db.sql<{ name: string; value: string }>`
    select name, value from app.unset_bounds(session_user, ${mapping === "server"}::boolean)`;
  return { unset_bounds, database };
}

async function readMapping(db: Database): Promise<Pick<SchemaFacts, "mapping" | "mapped_tenant">> {
  try {
    const [row] = await db.sql<{ is_server: boolean; tenant: string | null }>`
      select app.is_server() as is_server, app.current_tenant() as tenant`;
    if (row?.is_server) return { mapping: "server", mapped_tenant: row.tenant };
    return { mapping: row?.tenant ? "tenant" : "none", mapped_tenant: row?.tenant ?? null };
  } catch (error) {
    // A role without any of our rights may not even ask who it is: that is an answer too.
    if ((error as { code?: string }).code === "42501") return { mapping: "none", mapped_tenant: null };
    throw error;
  }
}

export interface ServingFacts {
  role: string;
  is_superuser: boolean;
  bypasses_security: boolean;
  /** Owns the tables, or may become who does. */
  is_owner: boolean;
  missing_roles: string[];
  server_role_exists: boolean;
  database: string;
  mapping: SchemaFacts["mapping"];
  mapped_tenant: string | null;
}

/** What decides whether a role may serve several tenants. Also of the role it may have become since it logged in. */
export async function readServingFacts(db: Database): Promise<ServingFacts> {
  const [row] = await db.sql<Omit<ServingFacts, "mapping" | "mapped_tenant">>`
    select
      session_user::text as role,
      current_database()::text as database,
      exists (select from pg_roles where rolname = ${server_role}::text) as server_role_exists,
      exists (select from pg_roles where rolname in (session_user, current_user) and rolsuper) as is_superuser,
      exists (select from pg_roles where rolname in (session_user, current_user) and rolbypassrls) as bypasses_security,
      exists (
        select from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'app' and c.relkind in ('r', 'p') and pg_has_role(session_user, c.relowner, 'MEMBER')) as is_owner,
      (select coalesce(json_agg(wanted order by wanted), '[]'::json)
         from unnest(array['fanfold_api', 'fanfold_worker']) wanted
        where not exists (
          select from pg_roles where rolname = wanted and pg_has_role(session_user, oid, 'USAGE'))) as missing_roles`;
  return { ...(row as ServingFacts), ...(await readMapping(db)) };
}

/** Null when this role may not see them. */
export async function readWorkerFacts(db: Database): Promise<WorkerFacts | null> {
  try {
    const [row] = await db.sql<{ counted: WorkerFacts }>`select app.count_workers() as counted`;
    return row?.counted ?? null;
  } catch (error) {
    if ((error as { code?: string }).code === "42501") return null;
    throw error;
  }
}
