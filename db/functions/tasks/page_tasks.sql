-- Tasks of a job (job_id, stage?) or lone tasks (task_type?), by stage and ordinal. request: {tenant?, job_id?, stage?, task_type?,
-- status?, from?, to?, rows?, cursor?, results?}; from and to: only ordinals [from, to); `cursor` is the `next` of the page before: a task id. A page looks at 5,000 tasks at most,
-- and with results ends at 4 MB, so it may be short and have a next.
create or replace function app.page_tasks(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_examined constant integer := 5000;
  c_bytes constant integer := 4194304;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_rows integer := app.page_rows((request ->> 'rows')::integer);
  v_status text := request ->> 'status';
  v_cursor text := request ->> 'cursor';
  v_results boolean := coalesce((request ->> 'results')::boolean, false);
  v_from bigint := -1;
  v_first bigint := coalesce((request ->> 'from')::bigint, 0);
  v_behind bigint := coalesce((request ->> 'to')::bigint, 9223372036854775807);
  v_after bigint;
  v_job app.jobs;
  v_stage app.stages;
  v_left integer := c_examined;
  v_ordinals bigint[];
  v_task record;
  v_tasks json[] := '{}'::json[];
  v_last text;
  v_next text;
  v_bytes bigint := 0;
begin
  if v_status is not null and not v_status = any (enum_range(null::app.task_status)::text[]) then
    raise exception '"%" is not a task status', left(v_status, 40)
      using errcode = 'FF002', hint = 'one of ' || array_to_string(enum_range(null::app.task_status)::text[], ', ');
  end if;
  perform app.assert_cursor(v_cursor, '^\d{1,18}-\d{1,18}$');
  v_from := coalesce(split_part(v_cursor, '-', 1)::bigint, -1);
  if request ->> 'job_id' is not null then
    v_job := app.find_job(v_tenant, request ->> 'job_id');
    if request ->> 'stage' is not null then
      v_stage := app.find_stage(v_job, request ->> 'stage');
    end if;
  end if;
  <<stages>>
  for v_stage in
    select s.*
      from app.stages s
     where s.tenant_id = v_tenant and s.stage_id >= v_from
       and case when v_job.job_id is not null then s.job_id = v_job.job_id and (v_stage.stage_id is null or s.stage_id = v_stage.stage_id)
         else s.job_id is null and (request ->> 'task_type' is null or s.task_type = request ->> 'task_type') end
     order by s.stage_id
  loop
    v_after := greatest(v_first - 1, case when v_stage.stage_id = v_from then split_part(v_cursor, '-', 2)::bigint else -1 end);
    loop
      v_ordinals := array(
        select c from app.task_candidates(v_stage.stage_id, v_status, v_after, least(v_rows + 1, v_left)) c where c < v_behind);
      exit when v_ordinals = '{}';
      for v_task in
        select t.*, k.parameters, r.result, r.spill
          from unnest(v_ordinals) o
          cross join lateral (select * from app.task_states x where x.stage_id = v_stage.stage_id and x.ordinal = o) t
          join app.tasks k on k.stage_id = v_stage.stage_id and k.ordinal = o
          left join app.results r on v_results and r.stage_id = v_stage.stage_id and r.ordinal = o
         order by o
      loop
        if v_status is null or v_task.status::text = v_status then
          if cardinality(v_tasks) = v_rows or v_bytes > c_bytes then
            v_next := v_last;
            exit stages;
          end if;
          v_tasks := v_tasks || (jsonb_build_object(
              'task_id', v_task.stage_id || '-' || v_task.ordinal, 'job_id', v_task.job_id, 'stage', v_task.stage,
              'task_type', v_task.task_type, 'ordinal', v_task.ordinal, 'index', v_task.index, 'status', v_task.status,
              'attempt', v_task.attempt, 'priority', v_task.priority, 'run_at', v_task.run_at, 'worker_id', v_task.worker_id,
              'created_at', v_task.created_at, 'finished_at', v_task.finished_at, 'duration_ms', v_task.duration_ms, 'error', v_task.error)
            || case when v_results then jsonb_build_object(
              'parameters', v_task.parameters, 'result', v_task.result, 'spill', v_task.spill)
              else '{}' end)::json;
          if v_results then
            v_bytes := v_bytes + coalesce(octet_length(v_task.result::text), 0) + coalesce(octet_length(v_task.parameters::text), 0);
          end if;
        end if;
        v_last := v_task.stage_id || '-' || v_task.ordinal;
      end loop;
      v_after := v_ordinals[cardinality(v_ordinals)];
      v_left := v_left - cardinality(v_ordinals);
      if v_left <= 0 then
        v_next := v_stage.stage_id || '-' || v_after;
        exit stages;
      end if;
    end loop;
  end loop;
  return json_build_object('job_id', v_job.job_id, 'tasks', array_to_json(v_tasks), 'next', v_next);
end $$;
grant execute on function app.page_tasks(json) to fanfold_api, fanfold_admin;
