-- A paused schedule submits nothing, and times that pass meanwhile are not missed: it goes on (`paused` false) with `next_at`, the first
-- time after now, which the caller has computed from version `if_version` of it. Saying the same twice changes nothing.
create or replace function app.pause_schedule(
  name text, paused boolean, reason text default null, next_at text default null, tenant text default null, actor text default null,
  if_version integer default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_schedule app.schedules := app.find_schedule(v_tenant, pause_schedule.name);
  v_changed boolean;
begin
  select * into v_schedule from app.schedules s where s.schedule_id = v_schedule.schedule_id for update;
  v_changed := (v_schedule.paused_at is not null) is distinct from paused;
  if v_changed then
    if v_schedule.version <> if_version then
      raise exception 'schedule "%" was changed meanwhile', v_schedule.name
        using errcode = 'FF003', hint = 'look at it again', detail = app.action('schedules.get', name => v_schedule.name);
    end if;
    update app.schedules s
       set paused_at = case when paused then now() end,
           paused_by = case when paused then coalesce(left(actor, 200), session_user) end,
           pause_reason = case when paused then left(reason, 1000) end,
           next_at = case when paused then s.next_at when pause_schedule.next_at is not null then greatest(pause_schedule.next_at::timestamptz, now()) end,
           version = s.version + 1
     where s.schedule_id = v_schedule.schedule_id
    returning * into v_schedule;
    perform app.note(v_tenant, case when paused then 'schedule.paused' else 'schedule.continued' end, null, null, reason,
      jsonb_build_object('schedule', v_schedule.name), actor);
  end if;
  return json_build_object('changed', v_changed, 'schedule', app.schedule_record(v_schedule));
end $$;
grant execute on function app.pause_schedule(text, boolean, text, text, text, text, integer) to fanfold_api, fanfold_admin;
