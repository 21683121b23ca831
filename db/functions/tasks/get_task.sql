-- One task with its parameters, result, the story of its attempts and the last hundred lines it logged.
create or replace function app.get_task(task_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return app.read_task(json_build_object('tenant', tenant, 'task_id', task_id));
end $$;
grant execute on function app.get_task(text, text) to fanfold_api, fanfold_admin;
