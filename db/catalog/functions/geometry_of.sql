-- A geometry from GeoJSON, two-dimensional and in degrees; refused with the reason where it is none.
create or replace function stac.geometry_of(geojson jsonb, at_path text, must_be_valid boolean)
returns @postgis@.geometry
language plpgsql immutable
as $$
declare
  v_geometry @postgis@.geometry;
  v_reason text;
begin
  if geojson is null or jsonb_typeof(geojson) = 'null' then
    return null;
  end if;
  begin
    v_geometry := @postgis@.st_setsrid(@postgis@.st_geomfromgeojson(geojson), 4326);
  exception
    when others then
      perform stac.refuse('a geometry cannot be read: ' || sqlerrm, at_path, sqlerrm, 'give a GeoJSON geometry (RFC 7946)');
  end;
  if @postgis@.st_isvalid(v_geometry) then
    return v_geometry;
  end if;
  if must_be_valid then
    v_reason := @postgis@.st_isvalidreason(v_geometry);
    perform stac.refuse('a geometry is not valid: ' || v_reason, at_path, v_reason, 'mend it, for instance with ST_MakeValid');
  end if;
  return @postgis@.st_makevalid(v_geometry);
end $$;
