-- The file that others may see under this key; null when there is none.
create or replace function app.find_asset(zone text, key text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select app.asset_record(a)
      from app.assets a
     where a.tenant_id = v_tenant and a.zone = find_asset.zone and a.key = find_asset.key and a.retracted_at is null);
end $$;
grant execute on function app.find_asset(text, text, text) to fanfold_api, fanfold_worker, fanfold_admin;
