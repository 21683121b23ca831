-- Does a line of it go from one end of the world to the other? In degrees, two neighbours more than half the world apart do. A side of a
-- box round the whole world does not: there the line also runs along the edge of the world. That is looked at only where something is so
-- far apart, because it takes as long again.
create or replace function geo.has_jump(geometry @postgis@.geometry)
returns boolean
language sql immutable
set search_path = pg_catalog, @postgis@, pg_temp
as $$
  select case when (
    select bool_or(abs(p.x - p.before) > 180)
      from (
        select st_x(d.geom) as x, lag(st_x(d.geom)) over (partition by d.path[1:cardinality(d.path) - 1] order by d.path) as before
          from st_dumppoints(geometry) d
      ) p
  ) then (
    select bool_or(l.steps > l.world_steps or (l.world_steps > 0 and not l.is_along_edge))
      from (
        select count(*) filter (where abs(p.x - p.before) > 180) as steps,
               count(*) filter (where abs(p.x - p.before) = 360) as world_steps,
               coalesce(bool_or(p.x = p.before and p.y <> p.before_y and abs(p.x) = 180), false) as is_along_edge
          from (
            select d.path[1:cardinality(d.path) - 1] as line, st_x(d.geom) as x, st_y(d.geom) as y,
                   lag(st_x(d.geom)) over o as before, lag(st_y(d.geom)) over o as before_y
              from st_dumppoints(geometry) d
            window o as (partition by d.path[1:cardinality(d.path) - 1] order by d.path)
          ) p
         group by p.line
      ) l
  ) else false end
$$;
