-- Lets a delivery wait for another try: a new ticket, so that whatever task it had before sends no more, and a task for it.
create or replace function app.requeue_delivery(delivery app.webhook_deliveries, at timestamptz)
returns void
language plpgsql
as $$
begin
  update app.webhook_deliveries d
     set status = 'pending', reason = null, ended_at = null, next_at = at, ticket = d.ticket + 1,
         task_ordinal = nextval('app.lone_ordinals')
   where d.tenant_id = delivery.tenant_id and d.delivery_id = delivery.delivery_id;
  perform app.queue_deliveries(delivery.tenant_id, array[delivery.delivery_id]);
end $$;
