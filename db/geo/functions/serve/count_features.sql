-- How many features of a layer a call asks for; request as read_features takes it. Null where that version is not there any more.
create or replace function geo.count_features(request jsonb)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
set jit = off
-- One call has one process; and what catches errors on the way could not run in several.
set max_parallel_workers_per_gather = 0
as $$
declare
  v_layer jsonb := geo.served_layer(request ->> 'layer', request ->> 'tenant', (request ->> 'version')::bigint);
  v_count bigint;
begin
  if v_layer is null then
    return null;
  end if;
  execute format('select count(*) from geo.%I t where %s', v_layer ->> 'table_name', geo.where_text(request, v_layer))
    into v_count using v_layer, request;
  return v_count;
end $$;
grant execute on function geo.count_features(jsonb) to fanfold_api, fanfold_worker, fanfold_admin;
