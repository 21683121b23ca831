-- Deletes items of a collection by their ids (a JSON array). Gives how many there were.
create or replace function stac.delete_items(of_collection text, ids jsonb, tenant text default null)
returns integer
language plpgsql security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_deleted integer;
begin
  with doomed as (
    select i.id from stac.items i
     where i.tenant_id = v_tenant and i.collection = of_collection and i.id = any (array(select jsonb_array_elements_text(ids)))
     order by i.id
       for update
  )
  delete from stac.items i using doomed d
   where i.tenant_id = v_tenant and i.collection = of_collection and i.id = d.id;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;
grant execute on function stac.delete_items(text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
