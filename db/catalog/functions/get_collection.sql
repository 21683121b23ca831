-- A collection of the tenant's; null where there is none.
create or replace function stac.get_collection(collection_id text, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (select c.content from stac.collections c where c.tenant_id = v_tenant and c.id = collection_id);
end $$;
grant execute on function stac.get_collection(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
