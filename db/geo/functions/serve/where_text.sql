-- The SQL of what a call asks for of a layer's features. $1 is the layer as served_layer tells it, $2 the request: {key?, bbox? (GeoJSON),
-- bbox_srid, starts?, ends?, filter? (normal form), filter_srid, filter_flips}.
create or replace function geo.where_text(request jsonb, layer jsonb)
returns text
language plpgsql immutable
as $$
declare
  v_where text[] := array['true'];
  v_geometry text := 't.' || quote_ident(layer ->> 'geometry_column');
  v_srid text := layer ->> 'srid';
  v_box text;
  v_time jsonb;
begin
  if request ? 'key' then
    v_where := v_where || format('t.%I = ($2 ->> ''key'')::bigint', layer ->> 'key_column');
  end if;
  if request ? 'bbox' then
    v_box := format('geo.given_geometry($2 -> ''bbox'', %s, false, ''$.bbox'')', (request ->> 'bbox_srid')::integer);
    v_where := v_where || case
      -- What has no place is in no box.
      when v_srid is null then 'false'
      when v_srid = request ->> 'bbox_srid' then format('@postgis@.st_intersects(%s, %s)', v_geometry, v_box)
      else format('%s operator(@postgis@.&&) geo.reach(%s, %s, %L) and @postgis@.st_intersects(@postgis@.st_transform(%s, %s), %s)',
        v_geometry, v_box, v_srid, geo.served_extent(layer), v_geometry, (request ->> 'bbox_srid')::integer, v_box)
    end;
  end if;
  -- Features of a layer that knows no time match any.
  if layer ->> 'time_column' is not null and (request ? 'starts' or request ? 'ends') then
    v_time := geo.layer_column(layer, layer ->> 'time_column');
    if request ? 'starts' then
      v_where := v_where || format(case v_time ->> 'type' when 'date' then 't.%I >= (($2 ->> ''starts'')::timestamptz at time zone ''UTC'')::date'
        else '%2$s >= ($2 ->> ''starts'')::timestamptz' end, v_time ->> 'name', geo.scalar_text(jsonb_build_object('column', v_time -> 'name'), 'time', '', layer));
    end if;
    if request ? 'ends' then
      v_where := v_where || format(case v_time ->> 'type' when 'date' then 't.%I <= (($2 ->> ''ends'')::timestamptz at time zone ''UTC'')::date'
        else '%2$s <= ($2 ->> ''ends'')::timestamptz' end, v_time ->> 'name', geo.scalar_text(jsonb_build_object('column', v_time -> 'name'), 'time', '', layer));
    end if;
  end if;
  if request ? 'filter' then
    v_where := v_where || geo.predicate_text(request -> 'filter', 'filter', layer,
      coalesce((request ->> 'filter_srid')::integer, 4326), coalesce((request ->> 'filter_flips')::boolean, false));
  end if;
  return array_to_string(v_where, ' and ');
end $$;
