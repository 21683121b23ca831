-- Runs one failed, skipped or cancelled task again: a lone one at once; one of an ended job in a new epoch, with what follows it.
create or replace function app.retry_task(
  task_id text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_found record := app.find_task(v_tenant, task_id);
  v_stage app.stages := v_found.stage;
  v_result app.results;
  v_bytes integer;
begin
  if exists (
    select from app.results r
     where r.stage_id = v_stage.stage_id and r.ordinal = v_found.ordinal and r.status = 'skipped' and r.error ->> 'code' = 'vanished') then
    raise exception 'task "%" is not in the plan of its stage any more', task_id using errcode = 'FF006';
  end if;
  if v_stage.job_id is not null and not exists (
    select from app.results r where r.stage_id = v_stage.stage_id and r.ordinal = v_found.ordinal and r.status = 'completed') then
    return app.repair_job(app.find_job(v_tenant, v_stage.job_id), 'task', task_id, coalesce(dry_run, false), reason, actor);
  end if;
  select * into v_result from app.results r where r.stage_id = v_stage.stage_id and r.ordinal = v_found.ordinal for update;
  if not found or v_result.status = 'completed' then
    raise exception 'task "%" is %', task_id, coalesce(v_result.status::text, 'queued or running')
      using errcode = 'FF006', hint = 'only what failed, was skipped or cancelled is run again';
  end if;
  if dry_run is not true then
    perform app.put_results_back(v_stage, int8multirange(int8range(v_found.ordinal, v_found.ordinal + 1)));
    select coalesce(octet_length(t.parameters::text), 0) into v_bytes
      from app.tasks t where t.stage_id = v_stage.stage_id and t.ordinal = v_found.ordinal;
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, task_bytes, turn)
    values (v_stage.stage_id, v_found.ordinal, v_found.ordinal + 1, v_tenant, v_stage.task_type, v_stage.priority, v_bytes,
      app.ring_turn(null, v_stage.stage_id));
    perform app.note(v_tenant, 'task.retried', null, v_stage.stage_id, reason, jsonb_build_object('task_id', task_id), actor);
    perform app.wake(array[v_stage.task_type]);
  end if;
  return json_build_object('task_id', task_id, 'status', case when dry_run then v_result.status::text else 'queued' end, 'again', 1,
    'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true);
end $$;
grant execute on function app.retry_task(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
