-- How a reference system of EPSG's is computed, as PostGIS knows it: proj4's words, else its text. Null for what is none of EPSG's.
create or replace function geo.crs_definition(of_srid integer)
returns text
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
return (
  select coalesce(nullif(trim(s.proj4text), ''), s.srtext)
    from @postgis@.spatial_ref_sys s where s.srid = of_srid and s.auth_name = 'EPSG');

grant execute on function geo.crs_definition(integer) to fanfold_api, fanfold_worker, fanfold_admin;
