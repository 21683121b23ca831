-- An item of the tenant's, as it was put; null where there is none.
create or replace function stac.get_item(of_collection text, item_id text, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select i.content from stac.items i
     where i.tenant_id = v_tenant and i.collection = of_collection and i.id = item_id);
end $$;
grant execute on function stac.get_item(text, text, text) to fanfold_api, fanfold_worker, fanfold_admin;
