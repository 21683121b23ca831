-- Features of a layer as GeoJSON, in a text: its first line tells {version, rows, more, after}, the rest are the features with commas between.
-- request: {tenant?, layer, version, rows, bytes, properties? [names], no_geometry?, srid, flips, digits, sort?, after?} and what where_text
-- takes. Null where that version is not there any more. It ends early rather than grow beyond `bytes`.
create or replace function geo.read_features(request jsonb)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
set jit = off
-- One call has one process; and what catches errors on the way could not run in several.
set max_parallel_workers_per_gather = 0
as $$
declare
  v_layer jsonb := geo.served_layer(request ->> 'layer', request ->> 'tenant', (request ->> 'version')::bigint);
  v_rows integer := least(greatest((request ->> 'rows')::integer, 1), 10000);
  v_bytes bigint := least((request ->> 'bytes')::bigint, 16777216);
  v_parts text[] := array[]::text[];
  v_count integer := 0;
  v_size bigint := 0;
  v_after text[];
  v_more boolean := false;
  v_row record;
begin
  if v_layer is null then
    return null;
  end if;
  for v_row in execute geo.features_text(request, v_layer, v_rows + 1) using v_layer, request loop
    if v_count = v_rows or v_size >= v_bytes then
      v_more := true;
      exit;
    end if;
    v_parts := v_parts || v_row.feature;
    v_count := v_count + 1;
    v_size := v_size + octet_length(v_row.feature);
    v_after := v_row.place;
  end loop;
  return jsonb_build_object('version', v_layer -> 'version', 'rows', v_count, 'more', v_more, 'after', to_jsonb(v_after))::text
    || e'\n' || array_to_string(v_parts, e',\n');
end $$;
grant execute on function geo.read_features(jsonb) to fanfold_api, fanfold_worker, fanfold_admin;
