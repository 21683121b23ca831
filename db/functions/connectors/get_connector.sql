-- One configuration of a connector, for a task of the session's tenant; null when there is none.
create or replace function app.get_connector(connector text, name text)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(null);
begin
  return (
    select app.connector_record(c) from app.connector_configs c
     where c.tenant_id = v_tenant and c.connector = get_connector.connector and c.name = get_connector.name);
end $$;
grant execute on function app.get_connector(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
