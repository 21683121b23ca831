-- The views of a tenant, by name.
create or replace function app.list_views(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (select coalesce(json_agg(app.view_record(v) order by lower(v.name), v.name), '[]') from app.saved_views v where v.tenant_id = v_tenant);
end $$;
grant execute on function app.list_views(text) to fanfold_api, fanfold_admin;
