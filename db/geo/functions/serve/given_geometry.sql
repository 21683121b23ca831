-- A geometry that came with a call, in the reference system it is in; what cannot be read as one is refused with the
-- reason.
create or replace function geo.given_geometry(geojson jsonb, of_srid integer, flips boolean, at_path text default '$.filter')
returns @postgis@.geometry
language plpgsql immutable
as $$
declare
  v_geometry @postgis@.geometry;
begin
  if geojson is null or jsonb_typeof(geojson) = 'null' then
    return null;
  end if;
  begin
    v_geometry := @postgis@.st_setsrid(@postgis@.st_force2d(@postgis@.st_geomfromgeojson(geojson)), of_srid);
    if flips then
      v_geometry := @postgis@.st_flipcoordinates(v_geometry);
    end if;
  exception
    when others then
      perform stac.refuse('a geometry cannot be read: ' || sqlerrm, at_path, sqlerrm, 'give a geometry in the reference system that is named');
  end;
  if not @postgis@.st_isvalid(v_geometry) then
    perform stac.refuse('a geometry is not valid', at_path, @postgis@.st_isvalidreason(v_geometry), 'mend it, for instance with ST_MakeValid');
  end if;
  return v_geometry;
end $$;
