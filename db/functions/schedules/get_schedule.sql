-- One schedule.
create or replace function app.get_schedule(name text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return app.schedule_record(app.find_schedule(app.acting_tenant(tenant), get_schedule.name));
end $$;
grant execute on function app.get_schedule(text, text) to fanfold_api, fanfold_admin;
