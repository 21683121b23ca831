-- How many items a collection has, counted.
create or replace function stac.count_items(of_collection text, tenant text default null)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (select count(*) from stac.items i where i.tenant_id = v_tenant and i.collection = of_collection);
end $$;
grant execute on function stac.count_items(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
