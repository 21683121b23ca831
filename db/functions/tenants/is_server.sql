-- May this session name the tenant itself? Only a role registered without a tenant, or a superuser (PGlite's one session), and not
-- while it runs a statement of an isolated handler. Only a session that has had a temporary table can do that (handler_sql sees
-- to it), so all others pay nothing for the question.
create or replace function app.is_server()
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  if pg_my_temp_schema() <> 0 and app.handler_tenant() is not null then
    return false;
  end if;
  return (
    select case
      when m.role_name is not null then m.tenant_id is null
      else (select rolsuper from pg_roles where rolname = session_user)
    end
    from (select 1) one
    left join app.tenant_roles m on m.role_name = session_user);
end $$;
grant execute on function app.is_server() to fanfold_api, fanfold_worker, fanfold_admin;
