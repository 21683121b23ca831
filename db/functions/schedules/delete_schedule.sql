-- Deletes a schedule and its history; its jobs stay.
create or replace function app.delete_schedule(name text, reason text default null, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_schedule app.schedules := app.find_schedule(v_tenant, delete_schedule.name);
begin
  delete from app.schedules s where s.schedule_id = v_schedule.schedule_id;
  perform app.note(v_tenant, 'schedule.deleted', null, null, reason, jsonb_build_object('schedule', v_schedule.name), actor);
  return json_build_object('name', v_schedule.name, 'deleted', true);
end $$;
grant execute on function app.delete_schedule(text, text, text, text) to fanfold_api, fanfold_admin;
