-- How many zooms, from the first, have a tile with more features than it takes: so many are made before they are asked for, as long as their
-- tiles are not too many. Counts what pyramid_places has.
create or replace function geo.pyramid_zooms(zooms jsonb)
returns integer
language plpgsql
as $$
declare
  c_most_tiles constant integer := 20000;
  v_deepest integer := jsonb_array_length(zooms);
  v_zooms integer;
begin
  execute $q$
    with counted as (
      select floor((p.x0 + p.x1) / 2 * 2 ^ $2)::integer as x, floor((p.y0 + p.y1) / 2 * 2 ^ $2)::integer as y, count(*) as n
        from pg_temp.pyramid_places p
       group by 1, 2
    ), tiles as (
      select z.zoom, c.x >> ($2 - z.zoom) as x, c.y >> ($2 - z.zoom) as y, sum(c.n) as n
        from counted c cross join generate_series(0, $2 - 1) z (zoom)
       group by 1, 2, 3
    ), levels as (
      select t.zoom, max(t.n) <= ($1 #>> array[t.zoom::text, 'most_features'])::bigint as fits, sum(count(*)) over (order by t.zoom) > $3 as too_many
        from tiles t
       group by t.zoom
    )
    select coalesce(min(l.zoom) filter (where l.fits or l.too_many), case when count(*) > 0 then $2 else 0 end) from levels l $q$
    into v_zooms using zooms, v_deepest, c_most_tiles;
  return v_zooms;
end $$;
