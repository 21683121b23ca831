-- How a job or a request is, as OGC API Processes tells it (statusInfo), for a subscriber of it.
create or replace function app.subscriber_status(
  subscriber jsonb, id text, process text, status text, message text, created_at timestamptz, started_at timestamptz, finished_at timestamptz)
returns json
language sql stable
as $$
  select json_strip_nulls(json_build_object(
    'processID', process, 'type', 'process', 'jobID', id,
    'status', case status
      when 'queued' then 'accepted' when 'pending' then 'accepted' when 'processing' then 'running'
      when 'completed' then 'successful' when 'partial_success' then 'successful' when 'cancelled' then 'dismissed' else status end,
    'message', left(message, 1000), 'created', app.webhook_time(created_at), 'started', app.webhook_time(started_at),
    'finished', app.webhook_time(finished_at), 'updated', app.webhook_time(coalesce(finished_at, started_at, created_at)),
    'progress', case when status in ('queued', 'pending') then 0 when status = 'completed' then 100 end,
    'links', json_build_array(json_build_object(
      'rel', 'monitor', 'href', (subscriber ->> 'root') || '/jobs/' || id, 'type', 'application/json', 'title', 'How it is'))))
$$;
