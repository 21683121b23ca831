-- Whose tasks a worker's session may touch: null = every tenant's (the server's role, unless it has named one for this transaction:
-- it speaks for a worker that came over HTTP), else its own; nobody's is an error. Whether it is the server is decided as in is_server,
-- in the same look, because every claim and finish pays for it.
create or replace function app.worker_tenant()
returns text
language plpgsql stable
as $$
declare
  v_tenant text;
  v_server boolean;
begin
  select m.tenant_id into v_tenant from app.tenant_roles m where m.role_name = session_user;
  v_server := found and v_tenant is null;
  if v_tenant is null and not v_server then
    v_server := current_setting('is_superuser') = 'on';
    if not v_server then
      v_server := (select r.rolsuper from pg_roles r where r.rolname = session_user);
    end if;
  end if;
  if v_server and (pg_my_temp_schema() = 0 or app.handler_tenant() is null) then
    return nullif(current_setting('fanfold.tenant', true), '');
  end if;
  return app.acting_tenant(null);
end $$;
