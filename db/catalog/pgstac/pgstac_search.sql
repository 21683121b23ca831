-- Searches the tenant's items in pgSTAC's table, with the same statement that searches our own: the same filters mean the same. The request
-- is that of stac.search. Gives {found: [[item as stored, place in the order], …, null …], bases: {stored collection: base}}.
create or replace function stac.pgstac_search(request jsonb)
returns json
language plpgsql stable security definer
set search_path = pgstac, @postgis@, pg_temp
set timezone = 'UTC'
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_collections text[] := array(
    select c.id from pgstac.collections c
     where stac.pgstac_is_of(c.id, v_tenant)
       and (not request ? 'collections' or request -> 'collections' ? stac.own_name(c.id, v_tenant))
     order by c.id);
  v_geometry geometry := stac.geometry_of(request -> 'geometry', '$.intersects', true);
  v_found json;
begin
  execute stac.page_text(request || jsonb_build_object('one_collection', cardinality(v_collections) = 1), 'pgstac')
    into v_found
    using v_tenant, request, v_collections, array(select jsonb_array_elements_text(request -> 'ids')),
      (request ->> 'starts')::timestamptz, (request ->> 'ends')::timestamptz, v_geometry;
  return json_build_object('found', v_found, 'bases', (
    select coalesce(json_object_agg(c.id, c.base_item), '{}') from pgstac.collections c
     where c.id in (select f #>> '{0,collection}' from json_array_elements(v_found) f)));
end $$;
grant execute on function stac.pgstac_search(jsonb) to fanfold_api, fanfold_worker, fanfold_admin;
