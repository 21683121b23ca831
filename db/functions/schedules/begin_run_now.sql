-- One run of a schedule by hand: the schedule, and the moment it is run for, in whole milliseconds. Runs by hand come one at a time.
create or replace function app.begin_run_now(name text, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_schedule app.schedules := app.find_schedule(app.acting_tenant(tenant), begin_run_now.name);
  v_at timestamptz;
begin
  perform 1 from app.schedules s where s.schedule_id = v_schedule.schedule_id for update;
  v_at := date_trunc('milliseconds', clock_timestamp());
  -- A time of its own, though another run by hand or the clock took this very millisecond.
  select greatest(v_at, max(t.tick_at) + interval '1 millisecond') into v_at
    from app.schedule_ticks t where t.schedule_id = v_schedule.schedule_id and t.tick_at >= v_at;
  -- Whole seconds are the clock's: a time of it that is still to come finds its place free.
  if v_at = date_trunc('second', v_at) then
    v_at := v_at + interval '1 millisecond';
  end if;
  return json_build_object('schedule_id', v_schedule.schedule_id, 'tick_at', v_at, 'schedule', app.schedule_record(v_schedule));
end $$;
grant execute on function app.begin_run_now(text, text) to fanfold_api, fanfold_admin;
