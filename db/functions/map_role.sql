-- Ties a login role to a tenant; tenant null makes it the server's role, which names the tenant per call.
create or replace function app.map_role(login_role name, tenant text)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  if not exists (select from pg_roles where rolname = login_role) then
    raise exception 'there is no role "%"', login_role using errcode = 'FF001', hint = 'create role … login; then map it';
  end if;
  if tenant is not null and not exists (select from app.tenants where tenant_id = tenant) then
    raise exception 'there is no tenant "%"', left(tenant, 80)
      using errcode = 'FF001', hint = 'select app.create_tenant(''<tenant>'')';
  end if;
  insert into app.tenant_roles (role_name, tenant_id)
  values (login_role, tenant)
  on conflict (role_name) do update set tenant_id = excluded.tenant_id;
end $$;
grant execute on function app.map_role(name, text) to fanfold_admin;
