-- What the task of a delivery is to do: send (with all it needs), or stop because the delivery is over, has a later task, waits
-- for its paused endpoint, or has lost it. Nothing is counted here: a task that runs again after a crash asks again.
-- Lock order, here and everywhere: endpoint, then delivery.
create or replace function app.begin_delivery(delivery_id text, ticket integer, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_delivery app.webhook_deliveries;
  v_endpoint app.webhook_endpoints;
  v_until timestamptz;
begin
  -- On a connection that handlers of all tenants share.
  perform app.wait_briefly();
  select * into v_delivery from app.webhook_deliveries d where d.tenant_id = v_tenant and d.delivery_id = begin_delivery.delivery_id;
  select * into v_endpoint from app.webhook_endpoints e where e.tenant_id = v_tenant and e.endpoint_id = v_delivery.endpoint_id;
  if v_endpoint.paused_until is not null then
    select * into v_endpoint from app.webhook_endpoints e
     where e.tenant_id = v_tenant and e.endpoint_id = v_delivery.endpoint_id for no key update;
  end if;
  select * into v_delivery from app.webhook_deliveries d
   where d.tenant_id = v_tenant and d.delivery_id = begin_delivery.delivery_id for update;
  if v_delivery.delivery_id is null then
    return json_build_object('action', 'stop', 'why', 'there is no such delivery');
  elsif v_delivery.status <> 'pending' then
    return json_build_object('action', 'stop', 'why', 'it is ' || v_delivery.status);
  elsif v_delivery.ticket <> begin_delivery.ticket then
    return json_build_object('action', 'stop', 'why', 'a later task sends it');
  end if;
  if v_delivery.endpoint_id is not null and (v_endpoint.endpoint_id is null or v_endpoint.disabled_at is not null) then
    perform app.end_delivery(v_delivery, 'discarded',
      case when v_endpoint.endpoint_id is null then 'the endpoint was deleted' else 'the endpoint is disabled: ' || v_endpoint.disabled_reason end);
    return json_build_object('action', 'stop', 'why', 'its endpoint is gone or disabled');
  end if;
  if v_endpoint.paused_until is not null and v_endpoint.probe_id is distinct from v_delivery.delivery_id then
    v_until := greatest(v_endpoint.paused_until, v_endpoint.probe_until);
    if v_until > now() then
      perform app.requeue_delivery(v_delivery, v_until + random() * interval '10 s');
      return json_build_object('action', 'stop', 'why', 'its endpoint is paused after failures');
    end if;
    update app.webhook_endpoints e
       set probe_id = v_delivery.delivery_id, probe_until = now() + make_interval(secs => e.timeout_s + 30)
     where e.tenant_id = v_tenant and e.endpoint_id = v_endpoint.endpoint_id;
  end if;
  return json_build_object(
    'action', 'send', 'url', coalesce(v_endpoint.url, v_delivery.url), 'payload', v_delivery.payload, 'event_type', v_delivery.event_type,
    'endpoint_id', v_delivery.endpoint_id, 'timeout_s', coalesce(v_endpoint.timeout_s, 20), 'job_id', v_delivery.job_id,
    'attempt', v_delivery.attempts + 1, 'now_s', floor(extract(epoch from clock_timestamp()))::bigint,
    'outbound', app.webhook_narrowing(v_tenant),
    'secrets', case when v_endpoint.endpoint_id is null then v_delivery.secrets else app.webhook_secrets(v_endpoint) end);
end $$;
grant execute on function app.begin_delivery(text, integer, text) to fanfold_worker, fanfold_admin;
