-- A delivery is over: delivered, failed for good, or discarded because nobody wants it any more.
create or replace function app.end_delivery(delivery app.webhook_deliveries, outcome text, why text)
returns void
language plpgsql
as $$
begin
  update app.webhook_deliveries d
     set status = outcome, reason = left(why, 500), next_at = null, ended_at = now()
   where d.tenant_id = delivery.tenant_id and d.delivery_id = delivery.delivery_id;
  insert into app.tallies (name, label, amount) values ('webhooks_ended', outcome, 1);
end $$;
