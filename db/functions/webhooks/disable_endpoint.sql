-- Disables an endpoint, with a reason, and discards what waits for it. An alert when nobody asked for it. The caller holds the row.
create or replace function app.disable_endpoint(endpoint app.webhook_endpoints, why text, actor text)
returns void
language plpgsql
as $$
declare
  v_count bigint;
begin
  update app.webhook_endpoints e
     set disabled_at = now(), disabled_reason = left(why, 500), paused_until = null, probe_id = null, probe_until = null
   where e.tenant_id = endpoint.tenant_id and e.endpoint_id = endpoint.endpoint_id;
  v_count := app.discard_deliveries(endpoint.tenant_id, endpoint.endpoint_id, 'the endpoint is disabled: ' || why);
  perform app.note(endpoint.tenant_id, 'webhook.disabled', null, null, why,
    jsonb_build_object('endpoint_id', endpoint.endpoint_id, 'discarded', v_count), actor);
  if actor is null then
    perform app.alert(endpoint.tenant_id, 'webhook_disabled', 'webhook ' || endpoint.endpoint_id,
      'webhook endpoint ' || endpoint.endpoint_id || ' was disabled: ' || why, null, null,
      jsonb_build_object('endpoint_id', endpoint.endpoint_id, 'discarded', v_count));
  end if;
end $$;
