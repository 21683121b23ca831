-- Removes a configuration of a connector; tasks that name it fail from now on.
create or replace function app.remove_connector(connector text, name text, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  delete from app.connector_configs c
   where c.tenant_id = v_tenant and c.connector = remove_connector.connector and c.name = remove_connector.name;
  if not found then
    raise exception 'there is no configuration "%" of connector "%"', left(name, 80), left(connector, 80)
      using errcode = 'FF001', hint = 'list them', detail = app.action('connectors.list');
  end if;
  perform app.note(v_tenant, 'connector.removed', null, null, null, jsonb_build_object('connector', connector, 'name', name), actor);
  return json_build_object('connector', connector, 'name', name, 'removed', true);
end $$;
grant execute on function app.remove_connector(text, text, text, text) to fanfold_api, fanfold_admin;
