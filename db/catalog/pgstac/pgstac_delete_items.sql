-- Deletes items of a collection in pgSTAC by their ids (a JSON array). Gives how many there were.
create or replace function stac.pgstac_delete_items(of_collection text, ids jsonb, tenant text default null)
returns integer
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_deleted integer;
begin
  perform stac.pgstac_lock();
  delete from pgstac.items i
   where i.collection = stac.pgstac_stored_name(of_collection, v_tenant) and i.id = any (array(select jsonb_array_elements_text(ids)));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;
grant execute on function stac.pgstac_delete_items(text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
