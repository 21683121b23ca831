-- What a person or key did, with the names of who and what it was: looked up by key, for the rows of one page.
create or replace function app.audit_record(event app.events)
returns json
language sql stable
as $$
  select json_build_object('event_id', event.event_id, 'at', event.at, 'kind', event.kind, 'actor', event.actor,
    'key_id', k.key_id, 'key_name', k.name, 'job_id', event.job_id, 'job_type', j.job_type, 'stage_id', event.stage_id, 'stage', s.name,
    'reason', event.reason, 'data', event.data)
  from (select substring(event.actor from '^key:([a-z0-9]{12})') as key_id) who
  left join app.api_keys k on k.key_id = who.key_id and k.tenant_id = event.tenant_id
  left join app.jobs j on j.tenant_id = event.tenant_id and j.job_id = event.job_id
  left join app.stages s on s.stage_id = event.stage_id and s.tenant_id = event.tenant_id
$$;
