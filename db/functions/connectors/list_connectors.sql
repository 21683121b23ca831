-- A tenant's configurations of connectors, of one connector or of all.
create or replace function app.list_connectors(connector text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(app.connector_record(c) order by c.connector, c.name), '[]')
      from app.connector_configs c
     where c.tenant_id = v_tenant and (list_connectors.connector is null or c.connector = list_connectors.connector));
end $$;
grant execute on function app.list_connectors(text, text) to fanfold_api, fanfold_admin;
