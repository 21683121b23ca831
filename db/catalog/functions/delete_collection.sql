-- Deletes a collection with its items. Gives whether there was one.
create or replace function stac.delete_collection(collection_id text, tenant text default null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  delete from stac.collections c where c.tenant_id = v_tenant and c.id = collection_id;
  return found;
end $$;
grant execute on function stac.delete_collection(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
