-- Something that should not happen did: an event, a message to the tenant's endpoints that hear of alerts, and a record for
-- the caller to log, count and hand to the alert hook. The same alert about the same target is told its tenant once an hour; by two who see it at
-- the same moment, twice.
create or replace function app.alert(
  tenant text, alert text, target text, reason text, job text default null, stage bigint default null, data jsonb default '{}')
returns jsonb
language plpgsql
as $$
declare
  v_data jsonb := data || jsonb_build_object('target', target);
begin
  if exists (
    select from (select e.kind, e.data, e.at from app.events e
                  where e.tenant_id = alert.tenant and e.kind like 'alert.%' order by e.event_id desc limit 2000) latest
     where latest.kind = 'alert.' || alert.alert and latest.data ->> 'target' = alert.target and latest.at > now() - interval '1 hour') then
    return '[]'::jsonb;
  end if;
  perform app.note(tenant, 'alert.' || alert, job, stage, reason, v_data);
  insert into app.tallies (name, label, amount) values ('alerts', left(alert, 63), 1);
  perform app.tell_endpoints(tenant, 'alert.raised', json_build_object(
    'alert', alert, 'reason', left(reason, 1000), 'target', left(target, 300), 'job_id', job, 'stage_id', stage));
  return jsonb_build_array(jsonb_build_object(
    'alert', alert, 'reason', reason, 'tenant_id', tenant, 'job_id', job, 'stage_id', stage, 'data', v_data));
end $$;
