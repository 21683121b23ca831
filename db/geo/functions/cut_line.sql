-- The parts of a line that jumps, each from edge to edge of the world. It is not unwrapped as rings are: the track of a satellite goes round
-- the world many times, and each of its points stays what it is. Null where nothing is left: from -180 to 180 along the equator, say.
create or replace function geo.cut_line(line @postgis@.geometry)
returns @postgis@.geometry
language sql immutable
set search_path = pg_catalog, @postgis@, pg_temp
as $$
  with steps as (
    select d.path[1] as n, st_x(d.geom) as x, st_y(d.geom) as y,
           lag(st_x(d.geom)) over (order by d.path) as before, lag(st_y(d.geom)) over (order by d.path) as before_y
      from st_dumppoints(line) d
  ), parts as (
    select s.*, count(*) filter (where abs(s.x - s.before) > 180) over (order by s.n) as part
      from steps s
  ), crossings as (
    select p.n, p.part, c.edge,
           p.before_y + coalesce((c.edge - p.before) / nullif(p.x + 2 * c.edge - p.before, 0), 0) * (p.y - p.before_y) as y
      from parts p
      cross join lateral (select 180 * sign(p.before - p.x) as edge) c
     where abs(p.x - p.before) > 180
  ), points as (
    select part, n::numeric as n, x, y from parts
    union all
    select part - 1, n - 0.5, edge, y from crossings
    union all
    select part, n - 0.5, -edge, y from crossings
  )
  select st_setsrid(st_multi(st_collect(st_removerepeatedpoints(l.geom) order by l.part)), st_srid(line))
    from (select part, st_makeline(st_makepoint(x, y) order by n) as geom from points group by part) l
   where st_length(l.geom) > 0
$$;
