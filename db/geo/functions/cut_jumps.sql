-- Lines or polygons some of which jump from one end of the world to the other, cut at the antimeridian instead and valid; null where one of
-- them cannot be.
create or replace function geo.cut_jumps(geometry @postgis@.geometry)
returns @postgis@.geometry
language sql immutable
set search_path = pg_catalog, @postgis@, pg_temp
as $$
  select case when count(*) = count(p.geom) then
           case when st_dimension(geometry) = 1 then st_collectionhomogenize(st_collect(p.geom)) else st_union(p.geom) end
         end
    from (
      select case when not geo.has_jump(d.geom) then st_collectionextract(st_makevalid(d.geom), st_dimension(geometry) + 1)
               when st_dimension(geometry) = 1 then geo.cut_line(d.geom)
               else geo.cut_polygon(d.geom) end as geom
        from st_dump(geometry) d
    ) p
$$;
