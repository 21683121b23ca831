-- A polygon that jumps, cut at the antimeridian; null where that cannot be done. Each ring is unwrapped and made valid alone, so that a hole
-- need not begin on the side of the world that its shell begins on. A ring once round the world is closed along the pole: the one that it
-- is nearer to, and with a hole that goes round as well, the one on the hole's side.
create or replace function geo.cut_polygon(polygon @postgis@.geometry)
returns @postgis@.geometry
language sql immutable
set search_path = pg_catalog, @postgis@, pg_temp
as $$
  with unwrapped as (
    select d.path[1] as n, case when geo.has_jump(r.line) then geo.unwrap(r.line) else r.line end as line
      from st_dumprings(polygon) d
      cross join lateral (select st_exteriorring(d.geom) as line) r
  ), rings as (
    select u.n, u.line, st_x(st_endpoint(u.line)) - st_x(st_startpoint(u.line)) as turn, st_y(st_centroid(u.line)) as middle
      from unwrapped u
  ), poles as (
    select case when coalesce(avg(r.middle) filter (where r.n > 0 and abs(r.turn) > 180) - avg(r.middle) filter (where r.n = 0),
                              avg(r.middle) filter (where r.n = 0)) < 0 then -90 else 90 end as pole
      from rings r
  ), areas as (
    select r.n,
           case when abs(r.turn) < 180 then st_wrapx(st_wrapx(a.area, 180, -360), -180, 360)
             -- Three times round, what the world's box cuts out has no seam where the ring began.
             else st_intersection(a.area, st_makeenvelope(-180, -90, 180, 90, st_srid(polygon))) end as area
      from rings r
      cross join poles p
      cross join lateral (
        select case when abs(r.turn) < 180 then r.line else st_makeline(array[
          st_translate(r.line, -r.turn, 0), r.line, st_translate(r.line, r.turn, 0),
          st_setsrid(st_makepoint(st_x(st_endpoint(r.line)) + r.turn, p.pole), st_srid(polygon)),
          st_setsrid(st_makepoint(st_x(st_startpoint(r.line)) - r.turn, p.pole), st_srid(polygon)),
          st_translate(st_startpoint(r.line), -r.turn, 0)]) end as closed
      ) c
      cross join lateral (select st_collectionextract(st_makevalid(st_makepolygon(c.closed)), 3) as area) a
  ), cut as (
    select st_collectionextract(st_makevalid(s.area), 3) as shell,
           (select st_union(st_collectionextract(st_makevalid(h.area), 3)) from areas h where h.n > 0) as holes
      from areas s
     where s.n = 0
  ), whole as (
    select case when c.holes is null then c.shell else st_difference(c.shell, c.holes) end as geom from cut c
  )
  select w.geom
    from whole w
   where not st_isempty(w.geom)
     -- A ring more than once round the world has no inside.
     and not exists (select from rings r where abs(r.turn) > 540 or st_xmin(r.line) < -540 or st_xmax(r.line) > 540)
$$;
