-- Sends an endpoint something to try it out with: an ordinary delivery, of no job.
create or replace function app.ping_webhook(endpoint_id text, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_endpoint app.webhook_endpoints := app.find_webhook(v_tenant, ping_webhook.endpoint_id);
  v_delivery app.webhook_deliveries;
begin
  if v_endpoint.disabled_at is not null then
    raise exception 'the endpoint is disabled: %', v_endpoint.disabled_reason
      using errcode = 'FF006', hint = 'enable it first', detail = app.action('webhooks.enable', endpoint_id => v_endpoint.endpoint_id);
  end if;
  insert into app.webhook_deliveries (tenant_id, delivery_id, endpoint_id, event_type, payload)
  values (v_tenant, app.new_delivery_id(), v_endpoint.endpoint_id, 'webhook.ping', json_build_object(
    'type', 'webhook.ping', 'timestamp', app.webhook_time(now()), 'data', json_build_object('endpoint_id', v_endpoint.endpoint_id))::text)
  returning * into v_delivery;
  perform app.queue_deliveries(v_tenant, array[v_delivery.delivery_id]);
  perform app.note(v_tenant, 'webhook.pinged', null, null, null,
    jsonb_build_object('endpoint_id', v_endpoint.endpoint_id, 'delivery_id', v_delivery.delivery_id), actor);
  return app.delivery_record(v_delivery);
end $$;
grant execute on function app.ping_webhook(text, text, text) to fanfold_api, fanfold_admin;
