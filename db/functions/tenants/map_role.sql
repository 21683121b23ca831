-- Ties a login role to a tenant; tenant null makes it the server's role, which names the tenant per call. Its sessions get bounds, as far
-- as the caller may alter roles: that is why this runs with the rights of its caller.
create or replace function app.map_role(login_role name, tenant text)
returns void
language plpgsql
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_unset text[];
begin
  perform app.tie_role(login_role, tenant);
  v_unset := app.bound_role(login_role, tenant is null);
  if v_unset <> '{}' then
    raise notice 'the sessions of "%" are without %: the doctor, asked as that role, says what to run', login_role, array_to_string(v_unset, ', ');
  end if;
end $$;
grant execute on function app.map_role(name, text) to fanfold_admin;
