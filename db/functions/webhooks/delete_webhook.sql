-- Deletes an endpoint; what waits for it is discarded, and the record of what was delivered stays.
create or replace function app.delete_webhook(endpoint_id text, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_endpoint app.webhook_endpoints := app.find_webhook(v_tenant, delete_webhook.endpoint_id, true);
  v_discarded bigint;
begin
  delete from app.webhook_endpoints e where e.tenant_id = v_tenant and e.endpoint_id = v_endpoint.endpoint_id;
  v_discarded := app.discard_deliveries(v_tenant, v_endpoint.endpoint_id, 'the endpoint was deleted');
  perform app.note(v_tenant, 'webhook.deleted', null, null, null,
    jsonb_build_object('endpoint_id', v_endpoint.endpoint_id, 'url', v_endpoint.url, 'discarded', v_discarded), actor);
  return json_build_object('endpoint_id', v_endpoint.endpoint_id, 'deleted', true, 'discarded', v_discarded);
end $$;
grant execute on function app.delete_webhook(text, text, text) to fanfold_api, fanfold_admin;
