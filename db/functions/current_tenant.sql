-- The tenant of the login role. session_user, because no SET ROLE changes it; a setting counts only for the server's own role.
create or replace function app.current_tenant()
returns text
language sql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
  select coalesce(
    (select m.tenant_id from app.tenant_roles m where m.role_name = session_user),
    case when app.is_server() then nullif(current_setting('fanfold.tenant', true), '') end)
$$;
grant execute on function app.current_tenant() to fanfold_api, fanfold_worker, fanfold_admin;
