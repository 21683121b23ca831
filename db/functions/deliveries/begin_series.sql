-- A new series of tries for these deliveries, `per_s` of them a second (0: all at once): a receiver that was down must not be
-- knocked over by what it missed.
create or replace function app.begin_series(tenant text, delivery_ids text[], per_s integer)
returns void
language plpgsql
as $$
begin
  perform 1 from app.webhook_deliveries d
    where d.tenant_id = tenant and d.delivery_id = any (delivery_ids) order by d.delivery_id for update;
  update app.webhook_deliveries d
     set status = 'pending', reason = null, ended_at = null, attempts = 0, series = d.series + 1, ticket = d.ticket + 1,
         task_ordinal = nextval('app.lone_ordinals'),
         next_at = now() + make_interval(secs => case when per_s > 0 then floor((u.position - 1)::numeric / per_s) else 0 end)
    from unnest(delivery_ids) with ordinality as u(delivery_id, position)
   where d.tenant_id = tenant and d.delivery_id = u.delivery_id;
  perform app.queue_deliveries(tenant, delivery_ids);
end $$;
