-- A line with longitudes that run on: where it steps from one end of the world to the other, the rest of it is a turn further.
create or replace function geo.unwrap(line @postgis@.geometry)
returns @postgis@.geometry
language sql immutable
set search_path = pg_catalog, @postgis@, pg_temp
as $$
  select st_setsrid(st_makeline(st_makepoint(u.x + 360 * u.turns, u.y) order by u.n), st_srid(line))
    from (
      select p.n, p.x, p.y, coalesce(sum(-round((p.x - p.before) / 360)) over (order by p.n), 0) as turns
        from (
          select d.path[1] as n, st_x(d.geom) as x, st_y(d.geom) as y, lag(st_x(d.geom)) over (order by d.path) as before
            from st_dumppoints(line) d
        ) p
    ) u
$$;
