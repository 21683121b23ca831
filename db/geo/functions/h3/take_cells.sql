-- Moves rows that were computed, cells with their outlines and values, from a stage into the candidate; then the stage is gone. Nothing of
-- them has to be cleaned: they are ours. request: {chunk, columns: [{name, pg_type, at}], geometry_type}. A chunk is taken once: who comes
-- second is told what the first found, and adds nothing.
create or replace function geo.take_cells(of_stage text, request jsonb, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stage geo.tables := geo.own_table(of_stage, 'stage', v_tenant, true);
  v_candidate geo.tables := geo.own_table(v_stage.facts ->> 'candidate', 'candidate', v_tenant);
  v_chunk integer := (request ->> 'chunk')::integer;
  v_has_geometry boolean := (v_candidate.facts #>> '{spec,has_geometry}')::boolean;
  v_names text;
  v_values text;
  v_count bigint;
  v_facts jsonb;
begin
  insert into geo.chunks (table_name, chunk, tenant_id, facts)
  values (v_candidate.table_name, v_chunk, v_tenant, '{}')
  on conflict do nothing;
  if found then
    select coalesce(string_agg(format(', %I', c ->> 'name'), '' order by n), ''),
      coalesce(string_agg(', ' || geo.cast_text('s.c' || (c ->> 'at')::integer, k.pg_type, ''), '' order by n), '')
      into v_names, v_values
      from jsonb_array_elements(request -> 'columns') with ordinality a (c, n)
      join lateral (
        select w ->> 'pg_type' as pg_type from jsonb_array_elements(v_candidate.facts #> '{spec,columns}') w where w ->> 'name' = c ->> 'name'
      ) k on true;
    execute format('insert into geo.%I (fid%s%s) select s.n%s%s from geo.%I s',
      v_candidate.table_name, v_names, case when v_has_geometry then ', geom' else '' end,
      v_values, case when v_has_geometry then ', s.g::geometry' else '' end, of_stage);
    get diagnostics v_count = row_count;
    v_facts := jsonb_build_object('row_count', v_count);
    if v_has_geometry and v_count > 0 then
      v_facts := v_facts || jsonb_build_object('types', jsonb_build_object(request ->> 'geometry_type', v_count));
    end if;
    update geo.chunks c set facts = v_facts where c.table_name = v_candidate.table_name and c.chunk = v_chunk;
  else
    v_facts := (select c.facts from geo.chunks c where c.table_name = v_candidate.table_name and c.chunk = v_chunk);
  end if;
  execute format('drop table geo.%I', of_stage);
  delete from geo.tables t where t.table_name = of_stage;
  return v_facts;
end $$;
grant execute on function geo.take_cells(text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
