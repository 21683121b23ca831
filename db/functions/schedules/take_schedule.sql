-- A scheduler takes what is due of a schedule, in the transaction in which it submits the jobs: compare and set. False: another was
-- quicker, or is at it, or the schedule was changed or paused meanwhile. Time is the database's: what is not due cannot be taken.
create or replace function app.take_schedule(schedule bigint, version integer, due_at text, last_at text, next_at text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_schedule app.schedules;
  v_tenant text := app.worker_tenant();
begin
  -- And whatever else this transaction needs of the tenant it waits for as briefly.
  perform app.wait_briefly();
  select * into v_schedule
    from app.schedules s
   where s.schedule_id = schedule and s.tenant_id = coalesce(v_tenant, s.tenant_id)
     for update skip locked;
  if v_schedule.schedule_id is null or v_schedule.version <> take_schedule.version or v_schedule.paused_at is not null
    or v_schedule.next_at is distinct from due_at::timestamptz then
    return false;
  end if;
  if last_at::timestamptz > clock_timestamp() or last_at::timestamptz < v_schedule.next_at
    or coalesce(next_at::timestamptz, 'infinity') <= last_at::timestamptz then
    raise exception 'schedule "%": these times are not due, or not in order', v_schedule.name using errcode = 'FF002';
  end if;
  update app.schedules s
     set last_at = take_schedule.last_at::timestamptz, next_at = take_schedule.next_at::timestamptz
   where s.schedule_id = schedule;
  return true;
end $$;
grant execute on function app.take_schedule(bigint, integer, text, text, text) to fanfold_worker, fanfold_api, fanfold_admin;
