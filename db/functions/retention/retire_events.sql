-- The next page of a tenant's events, oldest first. An event stays as long as the job or request it is about; then what people did stays as long
-- as the rule of the audit says, and the rest as long as that of events.
create or replace function app.retire_events(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  c_page constant integer := 2000;
  v_engine constant text[] := array(select r.role_name::text from app.tenant_roles r where r.tenant_id is null) || session_user::text;
  v_audit constant timestamptz := now() - make_interval(secs => (app.retention_rule(tenant, 'audit')).keep_s);
  v_other constant timestamptz := now() - make_interval(secs => (app.retention_rule(tenant, 'events')).keep_s);
  v_seen integer;
  v_last bigint;
  v_due bigint[];
begin
  select count(*), max((p.event).event_id), array_agg((p.event).event_id) filter (
      where (p.event).at < case when app.is_audited(p.event, v_engine) then v_audit else v_other end
        and not exists (select from app.jobs j where j.tenant_id = tenant and j.job_id = (p.event).job_id)
        and not exists (select from platform.requests r where r.tenant_id = tenant and r.request_id = (p.event).request_id))
    into v_seen, v_last, v_due
    from (
      select e as event
        from app.events e
       where e.tenant_id = tenant and e.event_id > coalesce((cursor ->> 0)::bigint, 0) and e.at < greatest(v_audit, v_other)
       order by e.event_id
       limit c_page
    ) p;
  delete from app.events e where e.event_id = any (v_due);
  return jsonb_build_object('removed', coalesce(cardinality(v_due), 0),
    'next', case when v_seen = c_page then jsonb_build_array(v_last) end);
end $$;
