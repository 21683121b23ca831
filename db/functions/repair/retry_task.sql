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
begin
  -- However it was named.
  task_id := (v_found.stage).stage_id || '-' || v_found.ordinal;
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
  return app.run_lone_again(v_stage, v_found.ordinal, v_result.status::text, reason, coalesce(dry_run, false), actor);
end $$;
grant execute on function app.retry_task(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
