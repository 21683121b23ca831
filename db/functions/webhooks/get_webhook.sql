-- One endpoint.
create or replace function app.get_webhook(endpoint_id text, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return app.webhook_record(app.find_webhook(app.acting_tenant(tenant), endpoint_id));
end $$;
grant execute on function app.get_webhook(text, text) to fanfold_api, fanfold_admin;
