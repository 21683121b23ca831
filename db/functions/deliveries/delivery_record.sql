-- A delivery as lists show it.
create or replace function app.delivery_record(d app.webhook_deliveries)
returns json
language sql stable
as $$
  select json_build_object(
    'delivery_id', d.delivery_id, 'endpoint_id', d.endpoint_id, 'url', coalesce(d.url, (
      select e.url from app.webhook_endpoints e where e.tenant_id = d.tenant_id and e.endpoint_id = d.endpoint_id)), 'event_type', d.event_type, 'job_id', d.job_id,
    'epoch', d.epoch, 'status', d.status, 'reason', d.reason, 'series', d.series, 'attempts', d.attempts, 'next_at', d.next_at,
    'last_status', d.last_status, 'last_error', d.last_error, 'created_at', d.created_at, 'ended_at', d.ended_at)
$$;
