-- A box in a layer's own reference system that holds whatever of the layer can touch a geometry: for the index. What the layer does not
-- reach is cut off first, because far from where it is meant for a reference system computes nonsense or nothing.
create or replace function geo.reach(of_geometry @postgis@.geometry, to_srid integer, extent double precision[])
returns @postgis@.geometry
language plpgsql stable
set search_path = pg_catalog, @postgis@, pg_temp
as $$
declare
  c_margin constant double precision := 0.01;
  v_box @postgis@.geometry;
  v_made @postgis@.geometry;
begin
  if of_geometry is null or st_srid(of_geometry) = to_srid then
    return of_geometry;
  end if;
  v_box := st_envelope(st_transform(of_geometry, 4326));
  if extent is not null and extent[1] <= extent[3] then
    v_box := st_intersection(v_box, st_expand(st_makeenvelope(extent[1], extent[2], extent[3], extent[4], 4326), c_margin));
  end if;
  if st_isempty(v_box) then
    return st_setsrid('point empty'::geometry, to_srid);
  end if;
  v_made := st_transform(st_segmentize(v_box, greatest(st_xmax(v_box) - st_xmin(v_box), st_ymax(v_box) - st_ymin(v_box), 0.001) / 32), to_srid);
  -- Between two of the points the edge bends a little.
  return st_expand(st_envelope(v_made), greatest(st_xmax(v_made) - st_xmin(v_made), st_ymax(v_made) - st_ymin(v_made)) / 100);
exception
  -- The index does not help then; what is compared afterwards is the same.
  when others then
    return st_makeenvelope(-1e30, -1e30, 1e30, 1e30, to_srid);
end $$;
