-- Does this reference system name north before east? PostGIS always has east first, the addresses of EPSG mean EPSG's order. Its texts name
-- the axes of projected systems only where east comes first; degrees are always latitude first. Null for what is none of EPSG's, and for the
-- few whose axes point elsewhere, which are then served in the usual systems only. Compared with all 4,963 projected systems of PROJ's list.
create or replace function geo.crs_flips(of_srid integer)
returns boolean
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
return (
  select s.srtext like 'GEOGCS[%' or s.srtext not like '%,AXIS[%'
    from @postgis@.spatial_ref_sys s where s.srid = of_srid and s.auth_name = 'EPSG'
      and s.srid not in (2065, 5482, 5513, 8044, 8045, 8352, 8433, 8441, 32661, 32761));
