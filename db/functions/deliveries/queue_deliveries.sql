-- The lone tasks that send these deliveries, each at its time. Parameters name the ticket, so that of several tasks only the latest
-- sends. Ahead of the tenant's usual work: they are short, and somebody waits for them.
create or replace function app.queue_deliveries(tenant text, delivery_ids text[])
returns void
language plpgsql
as $$
declare
  c_type constant text := 'connector.webhook.deliver';
  v_stage bigint := app.standing_stage(tenant, c_type);
begin
  with due as (
    select d.delivery_id, d.ticket, d.task_ordinal, d.next_at
      from unnest(delivery_ids) u(delivery_id)
      cross join lateral (
        select * from app.webhook_deliveries q where q.tenant_id = tenant and q.delivery_id = u.delivery_id offset 0) d
     where d.status = 'pending'
  ),
  stored as (
    insert into app.tasks (stage_id, ordinal, tenant_id, parameters, max_attempts)
    select v_stage, d.task_ordinal, tenant, jsonb_build_object('delivery_id', d.delivery_id, 'ticket', d.ticket), 10 from due d
  )
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, task_bytes, turn)
  select v_stage, lower(r), upper(r), tenant, c_type, 10, a.next_at, 100, case when a.next_at > now() then -1 else app.ring_turn(null, v_stage) end
    from (
      select d.next_at, range_agg(int8range(d.task_ordinal, d.task_ordinal + 1)) as ordinals from due d group by d.next_at
    ) a,
    unnest(a.ordinals) r;
  perform app.wake(array[c_type]);
end $$;
