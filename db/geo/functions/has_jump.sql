-- Does a line of it go from one end of the world to the other? In degrees, two neighbours more than half the world apart do.
create or replace function geo.has_jump(geometry @postgis@.geometry)
returns boolean
language sql immutable
set search_path = pg_catalog, @postgis@, pg_temp
as $$
  select coalesce(bool_or(abs(p.x - p.before) > 180), false)
    from (
      select st_x(d.geom) as x, lag(st_x(d.geom)) over (partition by d.path[1:cardinality(d.path) - 1] order by d.path) as before
        from st_dumppoints(geometry) d
    ) p
$$;
