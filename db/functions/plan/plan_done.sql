-- The plan is complete: the stage starts with `total` tasks, or is skipped with a reason. The plan of a stage that ran before
-- is merged into what it has. `task_bytes`, the size of the largest parameters, is looked for where it is null.
create or replace function app.plan_done(worker uuid, claim bigint, total bigint, task_bytes integer, plan_hash text, skip text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_stage app.stages;
  v_job app.jobs;
  v_planned bigint;
begin
  select * into v_stage from app.stages where stage_id = app.planning_stage(worker, claim);
  if v_stage.total is null then
    select coalesce(max(t.ordinal) + 1, 0) into v_planned from app.tasks t where t.stage_id = v_stage.stage_id;
  else
    select coalesce(max(d.ordinal) + 1, 0) into v_planned from app.task_drafts d where d.stage_id = v_stage.stage_id;
  end if;
  if total = 0 or skip is not null then
    if v_stage.total is null then
      delete from app.tasks t where t.stage_id = v_stage.stage_id;
    end if;
    delete from app.task_drafts d where d.stage_id = v_stage.stage_id;
  elsif v_planned <> total then
    raise exception 'stage "%" has % planned tasks, not %', v_stage.name, v_planned, total using errcode = 'FF006', hint = 'plan it again';
  end if;
  delete from app.claims where claim_id = plan_done.claim;
  v_job := app.lock_planned_job(v_stage);
  perform app.note(v_stage.tenant_id, 'stage.planned', v_stage.job_id, v_stage.stage_id, skip,
    jsonb_build_object('stage', v_stage.name, 'total', total, 'plan_hash', plan_hash));
  if skip is not null then
    perform app.close_stages(array[v_stage.stage_id], 'skipped', 'when');
  elsif v_stage.total is not null then
    total := app.merge_plan(v_stage, v_job);
  else
    perform app.start_stages(array[v_stage.stage_id], total, int8multirange(int8range(0, total)), 0,
      coalesce(task_bytes, app.largest_parameters(v_stage)));
  end if;
  perform app.advance_jobs(array[v_job.tenant_id], array[v_job.job_id]);
  return json_build_object('total', total);
end $$;
grant execute on function app.plan_done(uuid, bigint, bigint, integer, text, text) to fanfold_worker, fanfold_admin;
