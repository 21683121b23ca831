-- The part of map_role that needs the rights of the tables' owner.
create or replace function app.tie_role(login_role name, tenant text)
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
grant execute on function app.tie_role(name, text) to fanfold_admin;
