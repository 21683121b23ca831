-- A geometry for pgSTAC, which keeps it nowhere else: as it was given, or a refusal with the reason.
create or replace function stac.geometry_as_given(geojson jsonb)
returns @postgis@.geometry
language plpgsql immutable
as $$
begin
  return @postgis@.st_geomfromgeojson(geojson);
exception
  when others then
    perform stac.refuse('a geometry cannot be read: ' || sqlerrm, '$.geometry', sqlerrm, 'give a GeoJSON geometry (RFC 7946)');
    return null;
end $$;
