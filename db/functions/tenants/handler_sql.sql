-- One statement of a handler that runs in a process of its own: as a role with nothing but what it was granted, bound to the
-- task's tenant. While it runs this session is not the server's, so no function it calls lets it name another tenant.
create or replace function app.handler_sql(tenant text, statement text, parameters jsonb, has_rows boolean, path text)
returns setof text
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stage constant text := current_setting('fanfold.stage', true);
begin
  if pg_my_temp_schema() = 0 then
    -- It is there from now on, and nothing inside the statement can take it away: is_server and its like look at it first.
    create temp table fanfold_mark () on commit drop;
  end if;
  insert into app.handler_statements (pid, tenant_id) values (pg_backend_pid(), v_tenant);
  perform set_config('fanfold.tenant', v_tenant, true);
  return query select r from app.run_as_handler(statement, parameters, has_rows, path) r;
  delete from app.handler_statements where pid = pg_backend_pid();
  -- What it left in this session (settings, tables of SELECT INTO TEMP, locks) would reach the next user of the session.
  reset all;
  discard temp;
  perform pg_advisory_unlock_all(), set_config('fanfold.tenant', v_tenant, true), set_config('fanfold.stage', coalesce(v_stage, ''), true);
end $$;
grant execute on function app.handler_sql(text, text, jsonb, boolean, text) to fanfold_worker;
