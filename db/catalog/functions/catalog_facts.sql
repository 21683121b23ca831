-- Which catalogues this database has: {stac, postgis, pgstac}, each a version or null. pgSTAC counts when our functions for it are here.
create or replace function stac.catalog_facts()
returns json
language plpgsql stable security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_pgstac text;
begin
  if to_regproc('stac.pgstac_search') is not null then
    execute 'select m.version from pgstac.migrations m order by m.datetime desc, m.version desc limit 1' into v_pgstac;
  end if;
  return json_build_object(
    'stac', (select max(m.version)::text from stac.schema_migrations m),
    'postgis', (select e.extversion from pg_extension e where e.extname = 'postgis'),
    'pgstac', v_pgstac);
end $$;
grant execute on function stac.catalog_facts() to fanfold_api, fanfold_worker, fanfold_admin;
