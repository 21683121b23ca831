-- Writes down what became of times of a schedule, in the transaction that took them. ticks: [{tick_at, outcome, job_id?, missed?,
-- reason?, by_hand?, actor?}]. A failed one is an alert. The last thousand are kept. A run by hand makes room for the clock. Reply:
-- {alerts, repeated: how many times were on record before and are not written again: the caller takes back what it did for them}.
create or replace function app.record_ticks(schedule bigint, ticks json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_schedule app.schedules;
  v_given integer := json_array_length(ticks);
  v_written integer;
  v_failed record;
  v_alerts jsonb := '[]'::jsonb;
begin
  select * into v_schedule from app.schedules s where s.schedule_id = schedule;
  if not found or v_schedule.tenant_id <> coalesce(app.worker_tenant(), v_schedule.tenant_id) then
    raise exception 'there is no schedule %', schedule using errcode = 'FF001';
  end if;
  update app.schedule_ticks t
     set tick_at = (
       select min(free.at)
         from generate_series(t.tick_at + interval '1 ms', t.tick_at + interval '999 ms', interval '1 ms') as free(at)
        where not exists (select from app.schedule_ticks o where o.schedule_id = schedule and o.tick_at = free.at))
    from json_to_recordset(ticks) as n(tick_at timestamptz, by_hand boolean)
   where t.schedule_id = schedule and t.tick_at = n.tick_at and t.by_hand and n.by_hand is not true;
  insert into app.schedule_ticks (schedule_id, tick_at, tenant_id, outcome, job_id, missed, reason, by_hand, actor)
  select schedule, t.tick_at, v_schedule.tenant_id, t.outcome, t.job_id, coalesce(t.missed, 0), left(t.reason, 2000), coalesce(t.by_hand, false), t.actor
    from json_to_recordset(ticks) as t(
      tick_at timestamptz, outcome text, job_id text, missed integer, reason text, by_hand boolean, actor text)
  on conflict do nothing;
  get diagnostics v_written = row_count;
  for v_failed in
    select t.* from json_to_recordset(ticks) as t(tick_at timestamptz, outcome text, reason text) where t.outcome = 'failed' order by t.tick_at limit 1
  loop
    v_alerts := app.alert(v_schedule.tenant_id, 'schedule_failed', 'schedule ' || v_schedule.schedule_id,
      'schedule "' || v_schedule.name || '" could not submit its job: ' || left(v_failed.reason, 1000), null, null,
      jsonb_build_object('schedule', v_schedule.name, 'job_type', v_schedule.job_type, 'tick_at', v_failed.tick_at));
  end loop;
  delete from app.schedule_ticks t
   where t.schedule_id = schedule and t.tick_at < (
     select k.tick_at from app.schedule_ticks k where k.schedule_id = schedule order by k.tick_at desc offset 1000 limit 1);
  return json_build_object('alerts', app.visible_alerts(v_alerts), 'repeated', v_given - v_written);
end $$;
grant execute on function app.record_ticks(bigint, json) to fanfold_worker, fanfold_api, fanfold_admin;
