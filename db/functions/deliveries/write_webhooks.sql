-- Writes to the outbox who is to hear how these jobs ended, with a task for each: with the outcome, or not at all.
create or replace function app.write_webhooks(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
declare
  v_tenant text;
  v_ids text[];
begin
  for v_tenant, v_ids in
    with ended as (
      select u.tenant_id, u.job_id, q.job, 'job.' || (q.job).status as event_type
        from unnest(tenants, job_ids) as u(tenant_id, job_id)
        cross join lateral (select j as job from app.jobs j where j.tenant_id = u.tenant_id and j.job_id = u.job_id offset 0) q
       where (q.job).finished_at is not null
    ),
    receivers as (
      select e.tenant_id, e.job_id, e.event_type, w.endpoint_id, null::text as url, null::jsonb as secrets, null::jsonb as subscriber
        from ended e
        join app.webhook_endpoints w on w.tenant_id = e.tenant_id and w.disabled_at is null and e.event_type = any (w.events)
      union
      select e.tenant_id, e.job_id, e.event_type, w.endpoint_id, case when w.endpoint_id is null then i ->> 'url' end,
        case when w.endpoint_id is null then jsonb_build_array(i -> 'secret') end, null
        from ended e
        cross join lateral jsonb_array_elements((e.job).webhooks) i
        left join app.webhook_endpoints w on w.tenant_id = e.tenant_id and w.endpoint_id = i ->> 'endpoint' and w.disabled_at is null
       where (w.endpoint_id is not null or i ? 'url') and (not i ? 'events' or i -> 'events' ? e.event_type)
      union
      -- Nothing signs what it hears: it has no secret.
      select e.tenant_id, e.job_id, e.event_type, null, app.subscriber_url(i -> 'subscriber', e.event_type), null, i -> 'subscriber'
        from ended e
        cross join lateral jsonb_array_elements((e.job).webhooks) i
       where app.subscriber_url(i -> 'subscriber', e.event_type) is not null
    ),
    told as materialized (
      select e.tenant_id, e.job_id, e.job, app.webhook_payload(e.job, e.event_type) as payload
        from ended e
       where exists (select from receivers r where r.tenant_id = e.tenant_id and r.job_id = e.job_id)
    ),
    written as (
      insert into app.webhook_deliveries (tenant_id, delivery_id, endpoint_id, url, secrets, event_type, job_id, epoch, payload)
      select r.tenant_id, app.new_delivery_id(), r.endpoint_id, r.url, r.secrets, r.event_type, r.job_id, (t.job).epoch,
          case when r.subscriber is null then t.payload else app.subscriber_payload(t.job, r.subscriber) end
        from receivers r
        join told t on t.tenant_id = r.tenant_id and t.job_id = r.job_id
      on conflict do nothing
      returning tenant_id, delivery_id
    )
    select w.tenant_id, array_agg(w.delivery_id) from written w group by w.tenant_id order by 1
  loop
    perform app.queue_deliveries(v_tenant, v_ids);
  end loop;
end $$;
