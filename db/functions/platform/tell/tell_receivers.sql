-- Writes to the outbox who is to hear of this of a request, with a task for each: with what happened, or not at all.
create or replace function platform.tell_receivers(request platform.requests, event_type text)
returns void
language plpgsql
as $$
declare
  v_ids text[];
  v_payload text;
begin
  if request.webhooks is null and not exists (
    select from app.webhook_endpoints e where e.tenant_id = request.tenant_id and e.disabled_at is null and event_type = any (e.events)) then
    return;
  end if;
  v_payload := platform.webhook_payload(request, event_type);
  with receivers as (
    select w.endpoint_id, null::text as url, null::jsonb as secrets, null::jsonb as subscriber
      from app.webhook_endpoints w
     where w.tenant_id = request.tenant_id and w.disabled_at is null and event_type = any (w.events)
    union
    select w.endpoint_id, case when w.endpoint_id is null then i ->> 'url' end, case when w.endpoint_id is null then jsonb_build_array(i -> 'secret') end, null
      from jsonb_array_elements(request.webhooks) i
      left join app.webhook_endpoints w on w.tenant_id = request.tenant_id and w.endpoint_id = i ->> 'endpoint' and w.disabled_at is null
     where (w.endpoint_id is not null or i ? 'url') and (not i ? 'events' or i -> 'events' ? event_type)
    union
    select null, app.subscriber_url(i -> 'subscriber', event_type), null, i -> 'subscriber'
      from jsonb_array_elements(request.webhooks) i
     where app.subscriber_url(i -> 'subscriber', event_type) is not null
  ),
  written as (
    insert into app.webhook_deliveries (tenant_id, delivery_id, endpoint_id, url, secrets, event_type, request_id, epoch, payload)
    select request.tenant_id, app.new_delivery_id(), r.endpoint_id, r.url, r.secrets, event_type, request.request_id, request.epoch,
        case when r.subscriber is null then v_payload else platform.subscriber_payload(request, r.subscriber) end
      from receivers r
    on conflict do nothing
    returning delivery_id
  )
  select array_agg(w.delivery_id) into v_ids from written w;
  if v_ids is not null then
    perform app.queue_deliveries(request.tenant_id, v_ids);
  end if;
end $$;
