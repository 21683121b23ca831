-- What is in a snapshot: rows, kinds of geometry, and its box both in its own reference system and in CRS84.
create or replace function geo.snapshot_facts(of_table text, has_geometry boolean)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, geo, @postgis@, pg_temp
as $$
declare
  v_facts jsonb;
begin
  if not has_geometry then
    execute format('select jsonb_build_object(''row_count'', count(*), ''bytes'', coalesce(max(bytes), 0)) from geo.%I', of_table) into v_facts;
    return v_facts || '{"geometry_types": [], "extent": null, "bounds": null}';
  end if;
  execute format(
    $q$select jsonb_build_object(
         'row_count', count(*), 'bytes', coalesce(max(t.bytes), 0),
         'geometry_types', coalesce(jsonb_agg(distinct substr(st_geometrytype(t.geom), 4)) filter (where t.geom is not null), '[]'),
         'bounds', (select case when e.box is not null then jsonb_build_array(st_xmin(e.box), st_ymin(e.box), st_xmax(e.box), st_ymax(e.box)) end
                      from (select st_extent(t.geom) as box) e))
         from geo.%I t$q$, of_table) into v_facts;
  return v_facts || jsonb_build_object('extent', to_jsonb(geo.extent_of(of_table, true)));
end $$;
