-- Deletes a collection of the tenant's with its items from pgSTAC. Gives whether there was one.
create or replace function stac.pgstac_delete_collection(collection_id text, tenant text default null)
returns boolean
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(collection_id, v_tenant);
begin
  perform stac.pgstac_lock();
  if not exists (select from pgstac.collections c where c.id = v_stored) then
    return false;
  end if;
  perform stac.pgstac_drop_collection(v_stored);
  return true;
end $$;
grant execute on function stac.pgstac_delete_collection(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
