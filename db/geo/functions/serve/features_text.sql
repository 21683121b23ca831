-- The statement that gives a layer's features as GeoJSON texts, each with its place in the order. Columns are named, every one: a table with
-- others in its place is another statement.
create or replace function geo.features_text(request jsonb, layer jsonb, page_rows integer)
returns text
language plpgsql stable
as $$
declare
  v_columns text;
  v_geometry text;
  v_sort record;
begin
  select string_agg(format('t.%1$I as %1$I', c.one ->> 'name'), ', ' order by c.n) into v_columns
    from jsonb_array_elements(layer -> 'columns') with ordinality c (one, n)
   where not request ? 'properties' or request -> 'properties' ? (c.one ->> 'name');
  if layer ->> 'geometry_column' is null or request ? 'no_geometry' then
    v_geometry := '''null''';
  else
    v_geometry := format('t.%I', layer ->> 'geometry_column');
    if request ->> 'srid' <> layer ->> 'srid' then
      v_geometry := format('@postgis@.st_transform(%s, %s)', v_geometry, (request ->> 'srid')::integer);
    end if;
    -- As RFC 7946 wants its rings.
    if layer ->> 'geometry_type' ~* 'polygon|geometry' then
      v_geometry := format('@postgis@.st_forcepolygonccw(%s)', v_geometry);
    end if;
    if (request ->> 'flips')::boolean then
      v_geometry := format('@postgis@.st_flipcoordinates(%s)', v_geometry);
    end if;
    v_geometry := format('coalesce(@postgis@.st_asgeojson(%s, %s, 0), ''null'')', v_geometry, (request ->> 'digits')::integer);
  end if;
  select * into v_sort from geo.sort_text(request, layer);
  return format(
    $q$select '{"type":"Feature","id":' || t.%1$I || ',"geometry":' || %2$s || ',"properties":' || %3$s || '}' as feature, array[%4$s] as place
         from geo.%5$I t where %6$s and %7$s order by %8$s limit %9$s$q$,
    layer ->> 'key_column', v_geometry,
    case when v_columns is null then '''{}''' else format('(select row_to_json(p)::text from (select %s) p)', v_columns) end,
    v_sort.place, layer ->> 'table_name', geo.where_text(request, layer), v_sort.beyond, v_sort.ordered, page_rows);
end $$;
