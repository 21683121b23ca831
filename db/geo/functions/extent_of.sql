-- Where the features of a table lie: west, south, east, north in CRS84; null where none has a place. The edges of a box in another CRS are
-- curves in degrees, so that points along them count too.
create or replace function geo.extent_of(of_table text, has_geometry boolean)
returns double precision[]
language plpgsql stable
set search_path = pg_catalog, geo, @postgis@, pg_temp
as $$
declare
  v_box geometry;
  v_srid integer;
begin
  if not has_geometry then
    return null;
  end if;
  execute format('select st_extent(t.geom)::geometry, max(st_srid(t.geom)) from geo.%I t', of_table) into v_box, v_srid;
  if v_box is null then
    return null;
  end if;
  v_box := st_setsrid(v_box, v_srid);
  if v_srid <> 4326 then
    v_box := st_transform(
      case when greatest(st_xmax(v_box) - st_xmin(v_box), st_ymax(v_box) - st_ymin(v_box)) > 0
        then st_segmentize(v_box, greatest(st_xmax(v_box) - st_xmin(v_box), st_ymax(v_box) - st_ymin(v_box)) / 20) else v_box end, 4326);
  end if;
  return array[st_xmin(v_box), st_ymin(v_box), st_xmax(v_box), st_ymax(v_box)];
end $$;
