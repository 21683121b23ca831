-- For psql: tasks of a job (job_id, stage) or lone tasks of a type (task_type), by stage and ordinal; `cursor` is the `next` of the page before.
create or replace function app.list_tasks(
  job_id text default null, stage text default null, task_type text default null, status text default null,
  page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language sql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
  select app.page_tasks(json_build_object('tenant', tenant, 'job_id', job_id, 'stage', stage, 'task_type', task_type, 'status', status,
    'rows', page_rows, 'cursor', cursor))
$$;
grant execute on function app.list_tasks(text, text, text, text, integer, text, text) to fanfold_api, fanfold_admin;
