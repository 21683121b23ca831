-- How one try went, once per ticket, and what follows: delivered, another try at its time, or failed for good. The one authority
-- about retries. request: {tenant?, delivery_id, ticket, status?, duration_ms?, bytes?, error?, body?, retry_after_s?, final?,
-- postponed?}; postponed: nothing was sent for a reason on our own side, so no try is counted, and it waits
create or replace function app.record_delivery(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_longest_wait_s constant double precision := 86400;
  c_postponed_s constant double precision := 300;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_id text := request ->> 'delivery_id';
  v_ticket integer := (request ->> 'ticket')::integer;
  v_status integer := (request ->> 'status')::integer;
  v_error text := left(request ->> 'error', 200);
  v_ok boolean := v_error is null and v_status between 200 and 299;
  v_delays double precision[] := app.webhook_schedule();
  v_wait double precision;
  v_delivery app.webhook_deliveries;
  v_endpoint app.webhook_endpoints;
begin
  perform app.wait_briefly();
  select * into v_delivery from app.webhook_deliveries d where d.tenant_id = v_tenant and d.delivery_id = v_id;
  -- An endpoint in good health is not touched by a success, so that many at once do not wait for each other.
  select * into v_endpoint from app.webhook_endpoints e where e.tenant_id = v_tenant and e.endpoint_id = v_delivery.endpoint_id;
  if not v_ok or v_endpoint.failure_streak > 0 then
    select * into v_endpoint from app.webhook_endpoints e
     where e.tenant_id = v_tenant and e.endpoint_id = v_delivery.endpoint_id for no key update;
  end if;
  select * into v_delivery from app.webhook_deliveries d where d.tenant_id = v_tenant and d.delivery_id = v_id for update;
  if not found then
    raise exception 'there is no delivery "%"', left(coalesce(v_id, 'null'), 80) using errcode = 'FF001';
  end if;
  if coalesce((request ->> 'postponed')::boolean, false) then
    if v_delivery.ticket <> v_ticket or v_delivery.status <> 'pending' then
      return json_build_object('recorded', false, 'status', v_delivery.status, 'next_at', v_delivery.next_at);
    end if;
    perform app.requeue_delivery(v_delivery, now() + make_interval(secs => c_postponed_s * (1 + 0.1 * random())));
    update app.webhook_deliveries d
       set reason = v_error, last_error = v_error
     where d.tenant_id = v_tenant and d.delivery_id = v_id
    returning * into v_delivery;
    return json_build_object('recorded', true, 'status', v_delivery.status, 'next_at', v_delivery.next_at, 'reason', v_delivery.reason);
  end if;
  insert into app.webhook_attempts (tenant_id, delivery_id, ticket, series, duration_ms, status, bytes, error, body)
  values (v_tenant, v_id, v_ticket, v_delivery.series, (request ->> 'duration_ms')::integer, v_status, (request ->> 'bytes')::bigint,
    v_error, case when octet_length(request ->> 'body') <= 1024 then request ->> 'body' else left(request ->> 'body', 256) end)
  on conflict do nothing;
  if not found or v_delivery.ticket <> v_ticket or v_delivery.status <> 'pending' then
    return json_build_object('recorded', false, 'status', v_delivery.status, 'next_at', v_delivery.next_at);
  end if;
  v_delivery.attempts := v_delivery.attempts + 1;
  update app.webhook_deliveries d
     set attempts = v_delivery.attempts, last_status = v_status, last_error = v_error
   where d.tenant_id = v_tenant and d.delivery_id = v_id;
  if v_ok then
    perform app.end_delivery(v_delivery, 'delivered', null);
    perform app.endpoint_answered(v_endpoint);
  else
    v_error := coalesce(v_error, 'HTTP ' || v_status);
    v_wait := v_delays[v_delivery.attempts + 1] * (1 + 0.1 * random());
    if v_status = 410 then
      perform app.end_delivery(v_delivery, 'failed', 'the receiver is gone (HTTP 410)');
    elsif coalesce((request ->> 'final')::boolean, false) or v_wait is null then
      perform app.end_delivery(v_delivery, 'failed', v_error || case when v_wait is null then ', and no try is left' else '' end);
      perform app.note(v_tenant, 'webhook.failed', v_delivery.job_id, null, v_error,
        jsonb_build_object('delivery_id', v_id, 'endpoint_id', v_delivery.endpoint_id, 'attempts', v_delivery.attempts));
    else
      v_wait := greatest(v_wait, least(coalesce((request ->> 'retry_after_s')::double precision, 0), c_longest_wait_s));
      perform app.requeue_delivery(v_delivery, now() + make_interval(secs => v_wait));
    end if;
    if v_endpoint.endpoint_id is not null and v_endpoint.disabled_at is null then
      perform app.endpoint_failed(v_endpoint, v_id, v_status, v_error);
    end if;
  end if;
  return (
    select json_build_object('recorded', true, 'status', d.status, 'next_at', d.next_at, 'reason', d.reason)
      from app.webhook_deliveries d where d.tenant_id = v_tenant and d.delivery_id = v_id);
end $$;
grant execute on function app.record_delivery(json) to fanfold_worker, fanfold_admin;
