-- Is it a table for raw rows, and the tenant's? Asked before the worker copies for a handler in a process of its own.
create or replace function geo.own_stage(of_table text, tenant text default null)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return exists (
    select from geo.tables t
     where t.table_name = of_table and t.tenant_id = v_tenant and t.kind = 'stage' and t.doomed_at is null);
end $$;
grant execute on function geo.own_stage(text, text) to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
