-- Searches the tenant's items. request: {tenant?, collections?, ids?, starts?, ends?, geometry? (GeoJSON), filter? (normal form), sort
-- [{column | path, descending?}], limit, after? [values of the sort], backwards?, bytes?}. Gives [[item, place in the order], …, null …]; see page_text.
create or replace function stac.search(request jsonb)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, stac, app, pg_temp
set timezone = 'UTC'
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_collections text[] := array(select jsonb_array_elements_text(request -> 'collections'));
  v_geometry @postgis@.geometry := stac.geometry_of(request -> 'geometry', '$.intersects', true);
  v_found json;
begin
  execute stac.page_text(request || jsonb_build_object('one_collection', cardinality(v_collections) = 1), 'stac')
    into v_found
    using v_tenant, request, v_collections, array(select jsonb_array_elements_text(request -> 'ids')),
      (request ->> 'starts')::timestamptz, (request ->> 'ends')::timestamptz, v_geometry;
  return v_found;
end $$;
grant execute on function stac.search(jsonb) to fanfold_api, fanfold_worker, fanfold_admin;
