-- One tile of a layer. request: {tenant?, layer, version, srid and box of the tile, extent (its units a side), buffer, most_features,
-- most_bytes, properties?, as_features?} and what where_text takes. No row where that version is not there any more. Where PostGIS makes no
-- vector tiles, or as_features says so, it is the features in the tile's own numbers: [[key, geometry, properties], …]. place: {zoom, column,
-- row} of Web Mercator's tiles: where all of the layer is asked for, one that was made with it is taken.
create or replace function geo.read_tile(request jsonb, out tile bytea, out features jsonb, out count integer, out thinned boolean)
returns setof record
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
set jit = off
-- One call has one process; and what catches errors on the way could not run in several.
set max_parallel_workers_per_gather = 0
as $$
declare
  v_layer jsonb := geo.served_layer(request ->> 'layer', request ->> 'tenant', (request ->> 'version')::bigint);
  v_most integer := least(greatest((request ->> 'most_features')::integer, 1), 50000);
  v_bytes bigint := (request ->> 'most_bytes')::bigint;
  v_makes boolean := not request ? 'as_features' and coalesce(@postgis@.postgis_libprotobuf_version(), '') <> '';
  v_zoom integer := (request #>> '{place,zoom}')::integer;
  v_box @postgis@.geometry;
begin
  if v_layer is null then
    return;
  end if;
  thinned := request ? 'sample';
  if not request ?| array['key', 'bbox', 'filter', 'starts', 'ends', 'properties', 'as_features']
    and exists (select from geo.pyramids p where p.table_name = v_layer ->> 'table_name' and p.zooms > v_zoom) then
    select t.tile, t.features, coalesce(jsonb_array_length(t.features), 0), t.thinned into tile, features, count, thinned
      from geo.pyramid_tiles t
     where t.table_name = v_layer ->> 'table_name' and t.zoom = v_zoom
       and t.tile_column = (request #>> '{place,column}')::integer and t.tile_row = (request #>> '{place,row}')::integer;
    tile := case when features is null then coalesce(tile, '') end;
    thinned := coalesce(thinned, false);
    return next;
    return;
  end if;
  if v_layer ->> 'geometry_column' is null then
    count := 0;
    return next;
    return;
  end if;
  v_box := @postgis@.st_makeenvelope((request #>> '{box,0}')::double precision, (request #>> '{box,1}')::double precision,
    (request #>> '{box,2}')::double precision, (request #>> '{box,3}')::double precision, (request ->> 'srid')::integer);
  loop
    execute geo.tile_text(request, v_layer, v_most, v_makes) into tile, features, count using v_layer, request, v_box;
    -- One more than wanted was asked for, to know whether there are any.
    thinned := thinned or count > v_most;
    exit when coalesce(octet_length(tile), octet_length(features::text), 0) <= v_bytes or v_most = 1;
    thinned := true;
    v_most := greatest(least(count, v_most) * v_bytes / coalesce(octet_length(tile), octet_length(features::text)) * 9 / 10, 1);
  end loop;
  count := least(count, v_most);
  return next;
end $$;
grant execute on function geo.read_tile(jsonb) to fanfold_api, fanfold_worker, fanfold_admin;
