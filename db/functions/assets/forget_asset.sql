-- The file is gone: so is the row, if it was retracted. Gives whether there was one.
create or replace function app.forget_asset(zone text, key text, tenant text default null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  perform app.wait_briefly();
  delete from app.assets a
   where a.tenant_id = v_tenant and a.zone = forget_asset.zone and a.key = forget_asset.key and a.retracted_at is not null;
  return found;
end $$;
grant execute on function app.forget_asset(text, text, text) to fanfold_api, fanfold_worker, fanfold_admin;
