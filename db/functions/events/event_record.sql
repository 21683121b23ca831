-- An event as followers of events get it.
create or replace function app.event_record(event app.events)
returns json
language sql stable
as $$
  select json_build_object('event_id', event.event_id, 'at', event.at, 'kind', event.kind, 'actor', event.actor, 'job_id', event.job_id,
    'stage_id', event.stage_id, 'reason', event.reason, 'data', event.data, 'tenant_id', event.tenant_id)
$$;
