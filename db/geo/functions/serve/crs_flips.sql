-- Does this reference system name north before east? PostGIS always has east first, the addresses of EPSG mean EPSG's order.
create or replace function geo.crs_flips(of_srid integer)
returns boolean
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
return (
  select s.srtext like 'GEOGCS[%' or s.srtext ~ 'AXIS\["[^"]*",(NORTH|SOUTH)\],AXIS\["[^"]*",(EAST|WEST)\],AUTHORITY\["EPSG","\d+"\]\]$'
    from @postgis@.spatial_ref_sys s where s.srid = of_srid and s.auth_name = 'EPSG');
