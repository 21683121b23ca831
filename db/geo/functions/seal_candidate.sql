-- Makes a filled candidate ready to be a layer: its key, its indexes, and what the planner knows of it. May be said twice. Gives how many
-- rows it has, where they lie, and the rejects, all counted from the chunks that must be there.
create or replace function geo.seal_candidate(of_candidate text, chunks jsonb, indexes jsonb, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_candidate geo.tables := geo.own_table(of_candidate, 'candidate', v_tenant, true);
  v_has_geometry boolean := (v_candidate.facts #>> '{spec,has_geometry}')::boolean;
  v_missing integer;
  v_facts jsonb := '{}';
  v_chunk jsonb;
  v_column text;
  v_count bigint;
begin
  select count(*) into v_missing from jsonb_array_elements_text(chunks) w
   where not exists (select from geo.chunks c where c.table_name = of_candidate and c.chunk = w::integer);
  if v_missing > 0 then
    perform geo.refuse(format('%s parts of the load are not there', v_missing), 'load again', 'FF006');
  end if;
  for v_chunk in select c.facts from geo.chunks c where c.table_name = of_candidate loop
    v_facts := geo.add_facts(v_facts, v_chunk);
  end loop;
  if to_regclass(format('geo.%I', of_candidate || '_key')) is null then
    execute format('alter table geo.%I add constraint %I primary key (fid)', of_candidate, of_candidate || '_key');
  end if;
  if v_has_geometry then
    execute format('create index if not exists %I on geo.%I using gist (geom)', of_candidate || '_place', of_candidate);
  end if;
  for v_column in select jsonb_array_elements_text(indexes) loop
    execute format('create index if not exists %I on geo.%I (%I)', left(of_candidate || '_by_' || v_column, 63), of_candidate, v_column);
  end loop;
  execute format('analyze geo.%I', of_candidate);
  execute format('select count(*) from geo.%I', of_candidate) into v_count;
  if v_count <> coalesce((v_facts ->> 'row_count')::bigint, 0) then
    perform geo.refuse(format('the table has %s rows and its parts say %s', v_count, v_facts ->> 'row_count'), 'load again', 'FF006');
  end if;
  return v_facts || jsonb_build_object('row_count', v_count, 'extent', to_jsonb(geo.extent_of(of_candidate, v_has_geometry)));
end $$;
grant execute on function geo.seal_candidate(text, jsonb, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
