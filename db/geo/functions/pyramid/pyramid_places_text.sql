-- The statement that looks once at every feature of a table: its kind (0 point, 1 line, 2 area) and its box in the world's square of
-- Web Mercator, from 0 to 1, east and south.
create or replace function geo.pyramid_places_text(of_table text, srid integer)
returns text
language sql immutable
as $$
  select format(
    $q$create temporary table pyramid_places on commit drop as
       select p.fid, p.kind, greatest(p.x0, 0) as x0, greatest(p.y0, 0) as y0, least(p.x1, 1) as x1, least(p.y1, 1) as y1
         from (select t.fid, @postgis@.st_dimension(t.geom) as kind, %s from geo.%I t where t.geom is not null) p
        where p.x1 >= 0 and p.x0 < 1 and p.y1 >= 0 and p.y0 < 1$q$,
    case when srid = 4326 then
      -- By hand: a hundredth of the time that a transformation takes.
      (select format('(@postgis@.st_xmin(t.geom) + 180) / 360 as x0, %s as y0, (@postgis@.st_xmax(t.geom) + 180) / 360 as x1, %s as y1',
          format(l.text, 'ymax'), format(l.text, 'ymin'))
         from (values ('0.5 - ln(tan(pi() / 4 + radians(least(greatest(@postgis@.st_%s(t.geom), -89.9), 89.9)) / 2)) / (2 * pi())')) l (text))
    else
      (select format('%s / 40075016.68557849 + 0.5 as x0, 0.5 - %s / 40075016.68557849 as y0, %s / 40075016.68557849 + 0.5 as x1, 0.5 - %s / 40075016.68557849 as y1',
          format(m.text, 'xmin'), format(m.text, 'ymax'), format(m.text, 'xmax'), format(m.text, 'ymin'))
         from (values (case when srid = 3857 then '@postgis@.st_%s(t.geom)' else '@postgis@.st_%s(@postgis@.st_transform(t.geom, 3857))' end)) m (text))
    end, of_table);
$$;
