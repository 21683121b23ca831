-- What pyramid_places has, each with its middle, its size, the cell that it belongs to at this zoom, and whether it is smaller than that.
create or replace function geo.pyramid_sizes_text(cell double precision)
returns text
language sql immutable
return format(
  $q$select s.*, s.size < s.cell as is_small
       from (select p.*, (p.x0 + p.x1) / 2 as x, (p.y0 + p.y1) / 2 as y, greatest(p.x1 - p.x0, p.y1 - p.y0) as size,
               case when p.kind = 2 then %s else %s end::double precision as cell from pg_temp.pyramid_places p) s$q$, cell, 2 * cell);
