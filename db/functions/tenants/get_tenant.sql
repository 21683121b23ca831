-- For the server: one tenant.
create or replace function app.get_tenant(tenant text)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant app.tenants;
begin
  perform app.assert_server('look at tenants');
  select * into v_tenant from app.tenants t where t.tenant_id = tenant;
  if not found then
    raise exception 'there is no tenant "%"', left(tenant, 80) using errcode = 'FF001', hint = 'create it', detail = app.action('tenants.create');
  end if;
  return app.tenant_record(v_tenant);
end $$;
grant execute on function app.get_tenant(text) to fanfold_api, fanfold_admin;
