-- Every mapped login role gets the bounds it lacks, as far as the migrating role may do that; doctor tells what is left.
create or replace function app.bound_roles()
returns void
language plpgsql
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.bound_role(t.role_name, t.tenant_id is null) from app.tenant_roles t;
end $$;
