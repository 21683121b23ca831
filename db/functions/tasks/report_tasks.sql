-- For reports: one page of a job's tasks with how each ended, by stage and ordinal, bounded in rows and bytes. `after` is the `next`
-- of the page before: [stage number, ordinal].
create or replace function app.report_tasks(job_id text, after json default null, page_rows integer default 1000, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  c_bytes constant bigint := 4194304;
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), report_tasks.job_id);
  v_stage app.stages;
  v_number integer := coalesce((report_tasks.after ->> 0)::integer, 0);
  v_from bigint := coalesce((report_tasks.after ->> 1)::bigint + 1, 0);
  v_rows integer := least(greatest(page_rows, 1), 1000);
  v_tasks json;
  v_last bigint;
  v_more boolean;
begin
  loop
    select s.* into v_stage
      from app.stages s
     where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.number >= v_number
     order by s.number
     limit 1;
    if not found then
      return json_build_object('tasks', '[]'::json, 'next', null);
    end if;
    -- Each by its key: a join over the stage would be made anew for every page.
    with page as (
      select t.ordinal, t.index, r.result, r.spill, r.error, r.duration_ms, r.finished_at,
        coalesce(r.status, w.status) as status, coalesce(r.attempt, w.attempt) as attempt,
        row_number() over (order by t.ordinal) as n,
        sum(coalesce(octet_length(r.result::text), 0) + 200) over (order by t.ordinal) as bytes
        from (
          select q.ordinal, coalesce(q.index, q.ordinal::text) as index from app.tasks q
           where q.stage_id = v_stage.stage_id and q.ordinal >= v_from
           order by q.ordinal
           limit v_rows + 1
        ) t
        left join lateral (
          select * from app.results f where f.stage_id = v_stage.stage_id and f.ordinal = t.ordinal offset 0) r on true
        left join lateral (
          select s.status, s.attempt from app.task_states s
           where r.status is null and s.stage_id = v_stage.stage_id and s.ordinal = t.ordinal
          offset 0
        ) w on true
    ),
    kept as (select * from page p where p.n <= v_rows and (p.bytes <= c_bytes or p.n = 1))
    select json_agg(json_build_object(
        'stage', v_stage.name, 'index', k.index, 'task_id', v_stage.stage_id || '-' || k.ordinal, 'status', k.status, 'attempt', k.attempt,
        'duration_ms', k.duration_ms, 'finished_at', k.finished_at, 'error_code', k.error ->> 'code',
        'error_message', k.error ->> 'message', 'result', k.result, 'spill', k.spill) order by k.ordinal),
      max(k.ordinal), (select count(*) from page) > count(*)
      into v_tasks, v_last, v_more
      from kept k;
    if v_tasks is not null then
      return json_build_object('tasks', v_tasks,
        'next', case when v_more then json_build_array(v_stage.number, v_last) else json_build_array(v_stage.number + 1, -1) end);
    end if;
    v_number := v_stage.number + 1;
    v_from := 0;
  end loop;
end $$;
grant execute on function app.report_tasks(text, json, integer, text) to fanfold_worker, fanfold_admin;
