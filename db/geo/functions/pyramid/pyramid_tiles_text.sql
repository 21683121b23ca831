-- The statement that makes the tiles of one zoom of what pyramid_places has; $1 the tenant. What is smaller than a cell stands for others: an area
-- fills its cell, a line is as long as one in its own direction, a point stays where it is. What is larger is simplified as tile_text does it.
-- Names beside the layer's own columns begin with =, as none of those can.
create or replace function geo.pyramid_tiles_text(candidate geo.tables, request jsonb, zoom integer, cells integer)
returns text
language plpgsql stable
as $$
declare
  c_world constant double precision := 40075016.68557849;
  v_most integer := 20000;
  v_extent integer := (request ->> 'extent')::integer;
  v_buffer integer := (request ->> 'buffer')::integer;
  v_tiles double precision := 2 ^ zoom;
  v_unit double precision := c_world / v_tiles / v_extent;
  v_made text := case when (candidate.facts #>> '{spec,srid}')::integer = 3857 then 't.geom' else '@postgis@.st_transform(t.geom, 3857)' end;
  v_values text := geo.tile_columns_text(request -> 'columns', 't');
  v_names text;
  v_tile text;
begin
  select coalesce(string_agg(format(', m.%I', c.one ->> 'name'), '' order by c.n), '') into v_names
    from jsonb_array_elements(request -> 'columns') with ordinality c (one, n);
  v_tile := case when coalesce(@postgis@.postgis_libprotobuf_version(), '') <> ''
    then format('@postgis@.st_asmvt("=row", %L, %s, ''=geom'', ''=key''), null::jsonb', request ->> 'layer', v_extent)
    else 'null::bytea, jsonb_agg(jsonb_build_array("=row"."=key", @postgis@.st_asgeojson("=row"."=geom", 0, 0)::jsonb, to_jsonb("=row") - array[''=key'', ''=geom'']))' end;
  return format(
    $q$with shaped as materialized (
         select p.fid, p.is_small, p.size,
             floor((case when p.is_small then p.x else p.x0 - %10$s end) * %4$s)::integer as west, floor((case when p.is_small then p.x else p.x1 + %10$s end) * %4$s)::integer as east,
             floor((case when p.is_small then p.y else p.y0 - %10$s end) * %4$s)::integer as north, floor((case when p.is_small then p.y else p.y1 + %10$s end) * %4$s)::integer as south,
             case
               when not p.is_small then @postgis@.st_simplify(%2$s, %6$s * 4, true)
               when p.kind = 0 then @postgis@.st_setsrid(@postgis@.st_makepoint((p.x - 0.5) * %5$s, (0.5 - p.y) * %5$s), 3857)
               when p.kind = 1 then @postgis@.st_scale(%2$s, @postgis@.st_makepoint(p.cell / nullif(p.size, 0), p.cell / nullif(p.size, 0)),
                 @postgis@.st_setsrid(@postgis@.st_makepoint((p.x - 0.5) * %5$s, (0.5 - p.y) * %5$s), 3857))
               else @postgis@.st_makeenvelope((floor(p.x / p.cell) * p.cell - 0.5) * %5$s, (0.5 - (floor(p.y / p.cell) + 1) * p.cell) * %5$s,
                 ((floor(p.x / p.cell) + 1) * p.cell - 0.5) * %5$s, (0.5 - floor(p.y / p.cell) * p.cell) * %5$s, 3857)
             end as geom
           from (%3$s) p
           join geo.%1$I t on t.fid = p.fid
       ), placed as (
         select s.fid, x.x, y.y, row_number() over (partition by x.x, y.y order by s.size desc, hashint8(s.fid)) as place,
             count(*) over (partition by x.x, y.y) > %12$s as has_more
           from shaped s
           cross join generate_series(greatest(s.west, 0), least(s.east, %4$s::integer - 1)) x (x)
           cross join generate_series(greatest(s.north, 0), least(s.south, %4$s::integer - 1)) y (y)
       ), made as (
         select p.x as "=x", p.y as "=y", s.is_small or p.has_more as "=thinned", t.fid as "=key"%7$s, %8$s as "=geom"
           from placed p
           join shaped s on s.fid = p.fid
           join geo.%1$I t on t.fid = p.fid
           cross join lateral (select @postgis@.st_tileenvelope(%11$s, p.x, p.y) as box) e
          where p.place <= %12$s
       )
       insert into geo.pyramid_tiles (table_name, zoom, tile_column, tile_row, tenant_id, tile, features, thinned)
       select %13$L, %11$s, m."=x", m."=y", $1, %9$s, bool_or(m."=thinned")
         from made m
         cross join lateral (select m."=key"%14$s, m."=geom") "=row"
        where m."=geom" is not null and not @postgis@.st_isempty(m."=geom")
        group by m."=x", m."=y"$q$,
    candidate.table_name, v_made, geo.pyramid_sizes_text(1 / (v_tiles * cells)), v_tiles, c_world, v_unit, case when v_values = '' then '' else ', ' || v_values end,
    case when v_tile like 'null%' then format(
        '@postgis@.st_snaptogrid(@postgis@.st_transscale(@postgis@.st_clipbybox2d(s.geom, @postgis@.st_expand(e.box, %s)::@postgis@.box2d), '
        || '-@postgis@.st_xmin(e.box), -@postgis@.st_ymax(e.box), %s, -%s), 1)', v_unit * v_buffer, 1 / v_unit, 1 / v_unit)
      else format('@postgis@.st_asmvtgeom(s.geom, e.box::@postgis@.box2d, %s, %s, true)', v_extent, v_buffer) end,
    v_tile, v_buffer::double precision / v_extent / v_tiles, zoom, v_most, candidate.table_name, v_names);
end $$;
