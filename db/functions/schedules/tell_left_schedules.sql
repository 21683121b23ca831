-- Called by a scheduler that had to leave something: what has been due for ten minutes and nobody takes, because no scheduler knows
-- its job type or all of them fail, is an alert. One that is being caught up with is not.
create or replace function app.tell_left_schedules()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.worker_tenant();
  v_left app.schedules;
  v_alerts jsonb := '[]'::jsonb;
begin
  for v_left in
    select * from app.schedules s
     where s.paused_at is null and s.next_at < now() - interval '10 minutes' and s.tenant_id = coalesce(v_tenant, s.tenant_id)
       and not exists (
         select from app.schedule_ticks t where t.schedule_id = s.schedule_id and t.at > now() - interval '10 minutes' and not t.by_hand)
     order by s.next_at
     limit 20
  loop
    v_alerts := v_alerts || app.alert(v_left.tenant_id, 'schedule_left', 'schedule ' || v_left.schedule_id,
      'schedule "' || v_left.name || '" was due at ' || app.utc_text(v_left.next_at) || ' and nobody took it: no running scheduler knows the job type "'
      || v_left.job_type || '", or none can submit it', null, null,
      jsonb_build_object('schedule', v_left.name, 'job_type', v_left.job_type));
  end loop;
  return json_build_object('alerts', app.visible_alerts(v_alerts));
end $$;
grant execute on function app.tell_left_schedules() to fanfold_worker, fanfold_admin;
