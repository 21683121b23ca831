-- The statement that leaves, of all features smaller than a cell, the largest in each cell; a hash of the key chooses among equals, so that it is
-- the same one at every call. Cells of this width are for areas, which lie side by side; lines and points have cells of twice as much.
create or replace function geo.pyramid_thinning_text(cell double precision)
returns text
language sql immutable
return format(
  $q$create temporary table pyramid_thinner on commit drop as
     select p.fid, p.kind, p.x0, p.y0, p.x1, p.y1
       from (select p.*, row_number() over (partition by p.is_small, p.kind, floor(p.x / p.cell), floor(p.y / p.cell) order by p.size desc, hashint8(p.fid)) as place
               from (%s) p) p
      where not p.is_small or p.place = 1$q$, geo.pyramid_sizes_text(cell));
