-- Something that should not happen did: an event, a message to the tenant's endpoints that hear of alerts, and a record for
-- the caller to log, count and hand to the alert hook. The same alert about the same target is told once an hour.
create or replace function app.alert(
  tenant text, alert text, target text, reason text, job text default null, stage bigint default null, data jsonb default '{}')
returns jsonb
language plpgsql
as $$
declare
  v_data jsonb := data || jsonb_build_object('target', target);
begin
  if exists (
    select from app.events e
     where e.event_id > (select coalesce(max(event_id), 0) - 100000 from app.events)
       and e.kind like 'alert.%' and e.kind = 'alert.' || alert.alert and e.data ->> 'target' = target and e.at > now() - interval '1 hour') then
    return '[]'::jsonb;
  end if;
  perform app.note(tenant, 'alert.' || alert, job, stage, reason, v_data);
  insert into app.tallies (name, label, amount) values ('alerts', left(alert, 63), 1);
  perform app.tell_endpoints(tenant, 'alert.raised', json_build_object(
    'alert', alert, 'reason', left(reason, 1000), 'target', left(target, 300), 'job_id', job, 'stage_id', stage));
  return jsonb_build_array(jsonb_build_object(
    'alert', alert, 'reason', reason, 'tenant_id', tenant, 'job_id', job, 'stage_id', stage, 'data', v_data));
end $$;
