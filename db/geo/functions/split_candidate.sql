-- One table for each value of a column of a sealed candidate, sealed like it. Gives [{value, table, facts}]. Saying it again gives others;
-- those of before are dropped with their load.
create or replace function geo.split_candidate(of_candidate text, by_column text, indexes jsonb, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
as $$
declare
  c_most constant integer := 200;
  v_tenant text := app.acting_tenant(tenant);
  v_candidate geo.tables := geo.own_table(of_candidate, 'candidate', v_tenant, true);
  v_parts jsonb := '[]';
  v_values text[];
  v_value text;
  v_name text;
  v_types jsonb;
  v_count bigint;
  v_sealed jsonb;
begin
  execute format('select array_agg(v order by v) from (select distinct t.%I::text as v from geo.%I t limit %s) d', by_column, of_candidate, c_most + 1)
    into v_values;
  if cardinality(v_values) > c_most then
    perform geo.refuse(format('column "%s" has more than %s values', by_column, c_most), 'split by another column');
  end if;
  foreach v_value in array coalesce(v_values, '{}') loop
    v_name := geo.make_candidate(v_candidate.job_id, format('%s=%s', v_candidate.facts ->> 'layer', v_value),
      (v_candidate.facts -> 'spec') || jsonb_build_object('split', v_candidate.table_name), v_tenant);
    -- It may be of an attempt before.
    execute format('truncate geo.%I', v_name);
    execute format('insert into geo.%I select t.* from geo.%I t where t.%I::text is not distinct from %L order by t.fid', v_name, of_candidate, by_column, v_value);
    get diagnostics v_count = row_count;
    v_types := '{}';
    if (v_candidate.facts #>> '{spec,has_geometry}')::boolean then
      execute format('select coalesce(jsonb_object_agg(k.type, k.count), ''{}'') from (select substr(st_geometrytype(t.geom), 4) as type, count(*) from geo.%I t where t.geom is not null group by 1) k', v_name)
        into v_types;
    end if;
    insert into geo.chunks (table_name, chunk, tenant_id, facts)
    values (v_name, 0, v_tenant, jsonb_build_object('row_count', v_count, 'types', v_types))
    on conflict (table_name, chunk) do update set facts = excluded.facts;
    v_sealed := geo.seal_candidate(v_name, '[0]', indexes, v_tenant);
    v_parts := v_parts || jsonb_build_object('value', v_value, 'table', v_name,
      'facts', v_sealed || '{"rejected_count": 0, "codes": {}, "mended": {}}');
  end loop;
  return v_parts;
end $$;
grant execute on function geo.split_candidate(text, text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
