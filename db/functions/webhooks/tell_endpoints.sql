-- Writes to the outbox of every endpoint of the tenant that hears of this, with a task for each: with what happened, or not at all. For what no job's end
-- tells: how groups end, and alerts.
create or replace function app.tell_endpoints(tenant text, event_type text, data json)
returns void
language plpgsql
as $$
declare
  v_ids text[];
begin
  with written as (
    insert into app.webhook_deliveries (tenant_id, delivery_id, endpoint_id, event_type, payload)
    select w.tenant_id, app.new_delivery_id(), w.endpoint_id, tell_endpoints.event_type, json_build_object(
        'type', tell_endpoints.event_type, 'timestamp', app.webhook_time(now()), 'data', tell_endpoints.data)::text
      from app.webhook_endpoints w
     where w.tenant_id = tell_endpoints.tenant and w.disabled_at is null and tell_endpoints.event_type = any (w.events)
    returning delivery_id
  )
  select array_agg(w.delivery_id) into v_ids from written w;
  if v_ids is not null then
    perform app.queue_deliveries(tenant, v_ids);
  end if;
end $$;
