-- The tenant's endpoints, oldest first.
create or replace function app.list_webhooks(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(app.webhook_record(e) order by e.created_at, e.endpoint_id), '[]')
      from app.webhook_endpoints e
     where e.tenant_id = v_tenant);
end $$;
grant execute on function app.list_webhooks(text) to fanfold_api, fanfold_admin;
