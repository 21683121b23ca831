-- An item of the tenant's in pgSTAC as it is stored, [item, base]; null where there is none.
create or replace function stac.pgstac_get_item(of_collection text, item_id text, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pgstac, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(of_collection, v_tenant);
begin
  return (
    select jsonb_build_array(
        i.content || jsonb_build_object('id', i.id, 'collection', i.collection, 'geometry', st_asgeojson(i.geometry, 20)::jsonb), c.base_item)
      from pgstac.items i join pgstac.collections c on c.id = i.collection
     where i.collection = v_stored and i.id = item_id);
end $$;
grant execute on function stac.pgstac_get_item(text, text, text) to fanfold_api, fanfold_worker, fanfold_admin;
