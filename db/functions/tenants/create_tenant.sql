create or replace function app.create_tenant(tenant text, display_name text default null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  if tenant is null or tenant !~ '^[a-z0-9][a-z0-9_-]{0,62}$' then
    raise exception '"%" is not a tenant id', left(coalesce(tenant, 'null'), 80)
      using errcode = 'FF002', hint = 'lower-case letters, digits, _ and -, at most 63 characters';
  end if;
  insert into app.tenants (tenant_id, name) values (tenant, display_name) on conflict do nothing;
  return found;
end $$;
grant execute on function app.create_tenant(text, text) to fanfold_admin;
