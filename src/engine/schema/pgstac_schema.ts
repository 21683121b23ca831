// pgSTAC beside our catalogue: whether there is one, whether we know its tables, what our functions need of it, and whether it works. What a
// release is called decides nothing but what is told.
import type { Queryable } from "../database/database.js";

export interface PgstacBeside {
  /** As it calls itself. */
  version: string;
  /** Why it is not used; null where it is. */
  refusal: string | null;
  /** Our functions for it are here, so that the catalogue's items are in it. */
  is_in_use: boolean;
  /** Rights that a later release of it has taken away, or never gave. */
  lacks_rights: boolean;
}

export const pgstac_fix =
  "install pgSTAC 0.9 (pip install 'pypgstac<0.10'; pypgstac migrate) and run: fanfold migrate; or set FANFOLD_CATALOG=stac for the built-in catalogue";

/** A probe that failed is kept as a comment on our schema, so that a look does not have to write. */
const refused_before = /^pgSTAC (\S+) is not used: ([\s\S]*)$/;

/** `again`: a probe that failed before counts for nothing. */
export async function pgstacBeside(db: Queryable, again = false): Promise<PgstacBeside | null> {
  const [row] = await db.sql<{
    known_columns: number;
    has_base_items: boolean;
    is_readable: boolean;
    has_probe: boolean;
    lacks_rights: boolean;
    comment: string | null;
  }>`
    select
      (select count(*)::integer from pg_attribute a join pg_class t on t.oid = a.attrelid
        where t.relnamespace = p.relnamespace
          and (t.relname = 'items' and a.attname in ('geometry', 'datetime', 'end_datetime', 'content') or t.relname = 'collections' and a.attname = 'base_item')) as known_columns,
      exists (select from pg_class t where t.relnamespace = p.relnamespace and t.relname = 'base_items') as has_base_items,
      has_schema_privilege(p.relnamespace, 'usage') and has_table_privilege(p.oid, 'select') as is_readable,
      exists (select from pg_proc f join pg_namespace s on s.oid = f.pronamespace where s.nspname = 'stac' and f.proname = 'pgstac_search') as has_probe,
      -- Asked only of an owner that exists: it comes with the first migration.
      exists (
        select from pg_proc f join pg_roles r on r.rolname = 'fanfold_owner'
         where f.pronamespace = p.relnamespace and f.proname = any (string_to_array(${called_names.join()}, ','))
           and not has_function_privilege(r.oid, f.oid, 'execute')) as lacks_rights,
      (select obj_description(s.oid, 'pg_namespace') from pg_namespace s where s.nspname = 'stac') as comment
    from pg_class p join pg_namespace n on n.oid = p.relnamespace and n.nspname = 'pgstac'
   where p.relname = 'migrations'`;
  if (row === undefined) return null;
  const version = await versionOf(db, row.is_readable);
  if (version === null) return null;
  const [, refused_version, why] = refused_before.exec(row.comment ?? "") ?? [];
  const refusal =
    row.known_columns !== 5
      ? "its tables are not those of a release up to 0.9"
      : row.has_base_items
        ? "it stores items as differences from several states of their collection (pgstac.base_items, since 0.10), which is not read here"
        : refused_version === version && !again
          ? why!
          : null;
  return { version, refusal, is_in_use: row.has_probe, lacks_rights: row.lacks_rights };
}

/** A caller who may not read pgSTAC itself is told by our functions for it, where they are installed. */
async function versionOf(db: Queryable, is_readable: boolean): Promise<string | null> {
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

/** Null where a real item can be written, read and removed; else what failed. Nothing of it stays. */
export async function probePgstac(db: Queryable): Promise<string | null> {
  const [row] = await db.sql<{ failed: string | null }>`select stac.pgstac_probe() as failed`;
  return row?.failed ?? null;
}

/** For a look at a catalogue that is in use, by a role that may not be let try it; then nothing is said. */
export async function failureOfPgstac(db: Queryable): Promise<string | null> {
  const [row] = await db.sql<{ may: boolean }>`
    select exists (
      select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = 'stac' and p.proname = 'pgstac_probe' and has_schema_privilege(n.oid, 'usage')
         and has_function_privilege(p.oid, 'execute')) as may`;
  return row?.may ? probePgstac(db) : null;
}

export async function rememberRefusal(tx: Queryable, { version }: PgstacBeside, why: string | null): Promise<void> {
  const text = why === null ? null : `pgSTAC ${version} is not used: ${why}`;
  await tx.script(`comment on schema stac is ${text === null ? "null" : `'${text.replaceAll("'", "''")}'`}`);
}

/** The functions of pgSTAC that ours call. From 0.9.12 on only a role that was granted them may. */
const called_names = ["check_partition", "collection_base_item", "content_hydrate", "content_slim", "upsert_items"];

/**
 * What our functions need there, and their owner alone has: it reads, and writes what pgSTAC's own role for loading writes, because the
 * triggers on its items write into tables that are others in each release. Tenants' logins get nothing of pgSTAC's, because pgSTAC knows
 * no tenants.
 */
export const pgstac_grants = `
  grant usage on schema pgstac to fanfold_owner;
  grant select on all tables in schema pgstac to fanfold_owner;
  grant insert, update, delete on pgstac.items, pgstac.collections, pgstac.items_staging, pgstac.items_staging_upsert to fanfold_owner;
  do $grants$
  declare
    v_function regprocedure;
  begin
    for v_function in
      select f.oid from pg_proc f join pg_namespace n on n.oid = f.pronamespace
       where n.nspname = 'pgstac' and f.proname in (${called_names.map((name) => `'${name}'`).join(", ")})
    loop
      execute format('grant execute on function %s to fanfold_owner', v_function);
    end loop;
    if not pg_has_role('fanfold_owner', 'pgstac_ingest', 'member') then
      grant pgstac_ingest to fanfold_owner;
    end if;
  exception
    -- Another database of this server made it, at this moment.
    when unique_violation then null;
  end $grants$`;
