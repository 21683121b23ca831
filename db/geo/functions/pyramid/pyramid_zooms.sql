-- How many zooms, from the first, have a tile with more features than it takes: so many are made before they are asked for, as long as their
-- tiles are not too many, nor those that features reach into beside their first. Counts what pyramid_places has.
create or replace function geo.pyramid_zooms(zooms jsonb)
returns integer
language plpgsql
as $$
declare
  c_most_tiles constant integer := 20000;
  c_most_further_tiles constant integer := 1000000;
  c_cells constant integer := 128;
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
    ), further as (
      -- What is smaller than a cell is in one tile only.
      select z.zoom, sum((least(floor(p.x1 * 2 ^ z.zoom), 2 ^ z.zoom - 1) - floor(p.x0 * 2 ^ z.zoom) + 1)
            * (least(floor(p.y1 * 2 ^ z.zoom), 2 ^ z.zoom - 1) - floor(p.y0 * 2 ^ z.zoom) + 1) - 1) as n
        from (select p.* from pg_temp.pyramid_places p where greatest(p.x1 - p.x0, p.y1 - p.y0) >= 1 / (2 ^ ($2 - 1) * $4)) p
        cross join generate_series(0, $2 - 1) z (zoom)
       where greatest(p.x1 - p.x0, p.y1 - p.y0) >= 1 / (2 ^ z.zoom * $4)
       group by z.zoom
    ), levels as (
      select t.zoom, max(t.n) <= ($1 #>> array[t.zoom::text, 'most_features'])::bigint as fits, sum(count(*)) over (order by t.zoom) > $3 or coalesce(f.n, 0) > $5 as too_many
        from tiles t left join further f using (zoom)
       group by t.zoom, f.n
    )
    select coalesce(min(l.zoom) filter (where l.fits or l.too_many), case when count(*) > 0 then $2 else 0 end) from levels l $q$
    into v_zooms using zooms, v_deepest, c_most_tiles, c_cells, c_most_further_tiles;
  return v_zooms;
end $$;
