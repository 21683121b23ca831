-- The tenant of the login role. session_user, because no SET ROLE changes it; a setting counts only for the server's own role. A
-- statement of an isolated handler has its task's (is_server tells why it is asked for so).
create or replace function app.current_tenant()
returns text
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text;
begin
  if pg_my_temp_schema() <> 0 then
    v_tenant := app.handler_tenant();
    if v_tenant is not null then
      return v_tenant;
    end if;
  end if;
  select m.tenant_id into v_tenant from app.tenant_roles m where m.role_name = session_user;
  return case
    when v_tenant is not null then v_tenant
    when app.is_server() then nullif(current_setting('fanfold.tenant', true), '')
  end;
end $$;
grant execute on function app.current_tenant() to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
