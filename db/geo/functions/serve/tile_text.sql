-- The statement that makes one tile: $1 the layer, $2 the request, $3 the tile's box. Of more features than a tile takes the larger ones come
-- first, and among equals those that a hash of the key chooses: an even choice, and the same at every call.
create or replace function geo.tile_text(request jsonb, layer jsonb, most integer, makes_tiles boolean)
returns text
language plpgsql immutable
as $$
declare
  v_geometry text := format('t.%I', layer ->> 'geometry_column');
  v_is_point boolean := layer ->> 'geometry_type' ~* 'point';
  v_extent integer := (request ->> 'extent')::integer;
  v_buffer integer := (request ->> 'buffer')::integer;
  v_width double precision := (request #>> '{box,2}')::double precision - (request #>> '{box,0}')::double precision;
  v_columns text;
  v_picked text;
  v_made text;
begin
  select geo.tile_columns_text(coalesce(jsonb_agg(c.one order by c.n), '[]'), 't') into v_columns
    from jsonb_array_elements(layer -> 'columns') with ordinality c (one, n)
   where not request ? 'properties' or request -> 'properties' ? (c.one ->> 'name');
  v_made := case when request ->> 'srid' = layer ->> 'srid' then 't."=geom"' else format('@postgis@.st_transform(t."=geom", %s)', (request ->> 'srid')::integer) end;
  -- Half a pixel of a screen: areas that are smaller are not seen, lines stay as long as the tile can tell their ends apart.
  if not v_is_point then
    v_made := format('@postgis@.st_simplify(%s, %s, %L)', v_made, v_width / v_extent * 4, layer ->> 'geometry_type' ~* 'line');
  end if;
  -- No column can be called so: names are made of letters, digits and _.
  v_picked := format(
    $q$select q.*, row_number() over () as "=n" from (
         select t.%1$I as "=key", %2$s as "=geom"%3$s from geo.%4$I t %5$s
          where %2$s operator(@postgis@.&&) geo.reach(@postgis@.st_expand($3, %6$s), %7$s, %8$L) and %9$s
          %10$s limit %11$s) q$q$,
    layer ->> 'key_column', v_geometry, coalesce(', ' || nullif(v_columns, ''), ''), layer ->> 'table_name',
    -- Of a table that is far larger than a tile, a part of its pages is enough to choose from.
    case when request ? 'sample' then format('tablesample system (%s) repeatable (0)', (request ->> 'sample')::double precision) else '' end,
    v_width / v_extent * v_buffer, layer ->> 'srid', geo.served_extent(layer), geo.where_text(request, layer),
    case
      when (layer ->> 'feature_count')::bigint <= most then ''
      when v_is_point then format('order by hashint8(t.%I)', layer ->> 'key_column')
      else format('order by pg_column_size(%s) desc, hashint8(t.%I)', v_geometry, layer ->> 'key_column')
    end, most + 1);
  v_columns := (
    select coalesce(string_agg(format(', t.%1$I', c.one ->> 'name'), '' order by c.n), '')
      from jsonb_array_elements(layer -> 'columns') with ordinality c (one, n)
     where not request ? 'properties' or request -> 'properties' ? (c.one ->> 'name'));
  if makes_tiles then
    return format(
      $q$with picked as materialized (%1$s),
           made as (select t."=key"%2$s, @postgis@.st_asmvtgeom(%3$s, $3::@postgis@.box2d, %4$s, %5$s, true) as "=geom" from picked t where t."=n" <= %6$s)
         select (select @postgis@.st_asmvt("=made", %7$L, %4$s, '=geom', '=key') from made "=made" where "=made"."=geom" is not null), null::jsonb,
           (select count(*)::integer from picked)$q$,
      v_picked, v_columns, v_made, v_extent, v_buffer, most, layer ->> 'name');
  end if;
  -- In the tile's own numbers, y down, cut a little outside of it.
  v_made := format(
    '@postgis@.st_snaptogrid(@postgis@.st_transscale(@postgis@.st_clipbybox2d(%s, @postgis@.st_expand($3, %s)::@postgis@.box2d), %s, %s, %s, %s), 1)',
    v_made, v_width / v_extent * v_buffer, -(request #>> '{box,0}')::double precision, -(request #>> '{box,3}')::double precision,
    v_extent / v_width, -v_extent / v_width);
  return format(
    $q$with picked as materialized (%1$s),
         made as (select t."=key" as key, %2$s as g, (select to_jsonb("=own") from (select %3$s) "=own") as properties, t."=n" as n from picked t where t."=n" <= %4$s)
       select null::bytea,
         (select coalesce(jsonb_agg(jsonb_build_array(m.key, @postgis@.st_asgeojson(m.g, 0, 0)::jsonb, m.properties) order by m.n), '[]')
            from made m where m.g is not null and not @postgis@.st_isempty(m.g)),
         (select count(*)::integer from picked)$q$,
    v_picked, v_made, case when v_columns = '' then '' else substr(v_columns, 3) end, most);
end $$;
