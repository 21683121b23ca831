-- For a scheduler: what is due by the database's clock, job types it knows first, and when to look again. What nobody took for ten minutes, because no scheduler knows its job type or all of them fail, is an alert.
create or replace function app.due_schedules(job_types json, page_rows integer default 100)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.worker_tenant();
  v_left app.schedules;
  v_alerts jsonb := '[]'::jsonb;
  v_known text[] := array(select json_array_elements_text(job_types));
begin
  for v_left in
    select * from app.schedules s
     where s.paused_at is null and s.next_at < now() - interval '10 minutes' and s.tenant_id = coalesce(v_tenant, s.tenant_id)
     order by s.next_at
     limit 20
  loop
    v_alerts := v_alerts || app.alert(v_left.tenant_id, 'schedule_left', 'schedule ' || v_left.schedule_id,
      'schedule "' || v_left.name || '" was due at ' || to_char(v_left.next_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')
      || ' and nobody took it: no running scheduler knows the job type "' || v_left.job_type || '", or none can submit it', null, null,
      jsonb_build_object('schedule', v_left.name, 'job_type', v_left.job_type));
  end loop;
  return (
    with due as (
      select s.*
        from app.schedules s
       where s.paused_at is null and s.next_at <= now() and s.tenant_id = coalesce(v_tenant, s.tenant_id)
       -- Types it may not know come in any order: those that it does not must not stand before the others for ever.
       order by s.job_type = any (v_known) desc, case when s.job_type = any (v_known) then s.next_at end, random()
       limit page_rows
    )
    select json_build_object(
      'now', now(),
      'wait_s', greatest(0, extract(epoch from (
        select min(s.next_at) from app.schedules s
         where s.paused_at is null and s.next_at > now() and s.tenant_id = coalesce(v_tenant, s.tenant_id)) - now())),
      'alerts', app.told(v_alerts),
      'schedules', coalesce((
        select json_agg(json_build_object(
          'schedule_id', d.schedule_id, 'tenant_id', d.tenant_id, 'name', d.name, 'cron', d.cron, 'time_zone', d.time_zone,
          'job_type', d.job_type, 'parameters', d.parameters, 'options', d.options, 'missed', d.missed, 'version', d.version,
          'next_at', d.next_at) order by d.next_at, d.schedule_id) from due d), '[]')));
end $$;
grant execute on function app.due_schedules(json, integer) to fanfold_worker, fanfold_admin;
