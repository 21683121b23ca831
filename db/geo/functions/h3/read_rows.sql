-- Rows of one of the tenant's tables between two keys, each as text of a JSON list: the key, then the columns that are named. A layer's
-- `place` is a point in degrees that stands for the feature, before them: [key, x, y, …]. The table of a version that was replaced can be
-- read until it is dropped, so that a job reads one version.
create or replace function geo.read_rows(of_table text, columns jsonb, has_place boolean, from_key bigint, to_key bigint, tenant text default null)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_table geo.tables;
  v_values text;
  v_srid integer;
begin
  select t.* into v_table from geo.tables t where t.table_name = of_table and t.tenant_id = v_tenant and t.kind in ('layer', 'candidate');
  if not found or to_regclass(format('geo.%I', of_table)) is null then
    perform geo.refuse('the version of the layer that the job reads is not there any more: it was replaced', 'submit the job again', 'FF001');
  end if;
  select coalesce(string_agg(format(', t.%I', c), '' order by n), '') into v_values from jsonb_array_elements_text(columns) with ordinality a (c, n);
  if has_place then
    execute format('select st_srid(t.geom) from geo.%I t where t.geom is not null limit 1', of_table) into v_srid;
    return query execute format(
      'select json_build_array(t.fid, st_x(p.place), st_y(p.place)%s)::text from geo.%I t '
      || 'cross join lateral (select case when st_geometrytype(t.geom) = ''ST_Point'' then t.geom else st_pointonsurface(t.geom) end as own) o '
      || 'cross join lateral (select %s as place) p where t.fid between $1 and $2 order by t.fid',
      v_values, of_table, case when v_srid is null or v_srid = 4326 then 'o.own' else 'st_transform(o.own, 4326)' end) using from_key, to_key;
  else
    return query execute format('select json_build_array(t.fid%s)::text from geo.%I t where t.fid between $1 and $2 order by t.fid', v_values, of_table)
      using from_key, to_key;
  end if;
end $$;
grant execute on function geo.read_rows(text, jsonb, boolean, bigint, bigint, text) to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
