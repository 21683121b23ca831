-- Tasks of a job's stage (job_id, stage) or lone tasks of a type (task_type), by ordinal, in pages.
create or replace function app.list_tasks(
  job_id text default null, stage text default null, task_type text default null, status text default null,
  page_rows integer default 50, after_ordinal bigint default -1, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := coalesce(page_rows, 50);
  v_stages bigint[];
  v_job app.jobs;
begin
  if list_tasks.status is not null and not list_tasks.status = any (enum_range(null::app.task_status)::text[]) then
    raise exception '"%" is not a task status', left(list_tasks.status, 40)
      using errcode = 'FF002', hint = 'one of ' || array_to_string(enum_range(null::app.task_status)::text[], ', ');
  end if;
  if v_rows not between 1 and 1000 then
    raise exception 'a page has 1 to 1000 rows, not %', v_rows using errcode = 'FF002';
  end if;
  if list_tasks.job_id is not null then
    v_job := app.find_job(v_tenant, list_tasks.job_id);
    v_stages := array(
      select s.stage_id from app.stages s
       where s.tenant_id = v_tenant and s.job_id = v_job.job_id
         and (list_tasks.stage is null or s.name = list_tasks.stage or s.number::text = list_tasks.stage)
       order by s.number);
  else
    v_stages := array(
      select s.stage_id from app.stages s
       where s.tenant_id = v_tenant and s.job_id is null and (list_tasks.task_type is null or s.task_type = list_tasks.task_type)
       order by s.stage_id);
  end if;
  return (
    with page as (
      select v.*
        from unnest(v_stages) with ordinality u(stage_id, position)
        cross join lateral (
          select * from app.task_states t
           where t.stage_id = u.stage_id and t.tenant_id = v_tenant and t.ordinal > coalesce(after_ordinal, -1)
             and (list_tasks.status is null or t.status = list_tasks.status::app.task_status)
           order by t.ordinal
           limit v_rows + 1) v
       order by u.position, v.ordinal
       limit v_rows + 1
    ),
    shown as (select * from page limit v_rows)
    select json_build_object(
      'tasks', coalesce(json_agg(json_build_object(
        'task_id', s.stage_id || '-' || s.ordinal, 'job_id', s.job_id, 'stage', s.stage, 'task_type', s.task_type, 'ordinal', s.ordinal,
        'index', s.index, 'status', s.status, 'attempt', s.attempt, 'priority', s.priority, 'run_at', s.run_at, 'worker_id', s.worker_id,
        'created_at', s.created_at, 'finished_at', s.finished_at, 'duration_ms', s.duration_ms, 'error', s.error)), '[]'),
      'next', case when (select count(*) from page) > v_rows and cardinality(v_stages) = 1 then max(s.ordinal) end)
    from shown s);
end $$;
grant execute on function app.list_tasks(text, text, text, text, integer, bigint, text) to fanfold_api, fanfold_admin;
