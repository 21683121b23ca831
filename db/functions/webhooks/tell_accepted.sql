-- Tells the subscribers of jobs that were just made that these were taken, in the transaction that makes them.
create or replace function app.tell_accepted(tenant text, job_ids text[])
returns void
language plpgsql
as $$
declare
  v_ids text[];
begin
  with written as (
    insert into app.webhook_deliveries (tenant_id, delivery_id, url, event_type, job_id, epoch, payload)
    select tenant, app.new_delivery_id(), app.subscriber_url(i -> 'subscriber', 'job.accepted'), 'job.accepted', (q.job).job_id, (q.job).epoch,
        app.subscriber_payload(q.job, i -> 'subscriber')
      from unnest(job_ids) u(job_id)
      cross join lateral (select j as job from app.jobs j where j.tenant_id = tenant and j.job_id = u.job_id offset 0) q
      cross join lateral jsonb_array_elements((q.job).webhooks) i
     where (q.job).finished_at is null and app.subscriber_url(i -> 'subscriber', 'job.accepted') is not null
    on conflict do nothing
    returning delivery_id
  )
  select array_agg(w.delivery_id) into v_ids from written w;
  if v_ids is not null then
    perform app.queue_deliveries(tenant, v_ids);
  end if;
end $$;
