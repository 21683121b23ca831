-- Skips one task for a reason: it counts as done without a result. A waiting or running task of an open job is skipped at once;
-- a failed one of an ended job is marked, and resume goes on from there.
create or replace function app.skip_task(
  task_id text, reason text, dry_run boolean default false, tenant text default null, actor text default null)
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
  v_range int8multirange := int8multirange(int8range(v_found.ordinal, v_found.ordinal + 1));
  v_job app.jobs;
  v_status app.task_status;
  v_ready app.ready;
  v_claim app.claims;
  v_error jsonb := jsonb_build_object(
    'code', 'skipped', 'message', left(reason, 1000), 'by', coalesce(actor, session_user));
begin
  -- However it was named.
  task_id := (v_found.stage).stage_id || '-' || v_found.ordinal;
  if coalesce(btrim(reason), '') = '' then
    raise exception 'a task is skipped for a reason' using errcode = 'FF002', hint = 'say why', detail = app.action('tasks.skip', task_id => task_id, reason => '…');
  end if;
  if v_stage.job_id is not null then
    v_job := app.find_job(v_tenant, v_stage.job_id);
    perform app.lock_job_for_verbs(v_job);
  end if;
  select t.status into v_status from app.task_states t where t.stage_id = v_stage.stage_id and t.ordinal = v_found.ordinal;
  if v_status = 'skipped' then
    return json_build_object('task_id', task_id, 'status', 'skipped', 'dry_run', coalesce(dry_run, false), 'changed', false);
  elsif v_status = 'completed' then
    raise exception 'task "%" is completed, which is final', task_id
      using errcode = 'FF006', hint = 'a stage can run again once its job has ended',
        detail = app.action('retry_stage', job_id => v_stage.job_id, stage => v_stage.name);
  elsif dry_run then
    return json_build_object('task_id', task_id, 'status', v_status, 'dry_run', true, 'changed', false);
  end if;

  v_ready := app.take_out_of_ready(v_stage.stage_id, v_found.ordinal);
  if v_ready.ready_id is null then
    select * into v_claim from app.claims k where k.stage_id = v_stage.stage_id and k.held @> v_found.ordinal for update;
    if found then
      perform app.let_go(array[v_claim.claim_id], array[v_range]);
    end if;
  end if;
  if v_ready.ready_id is not null or v_claim.claim_id is not null then
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, error)
    values (v_stage.stage_id, v_found.ordinal, v_tenant, 'skipped', coalesce(v_ready.attempt, v_claim.attempt), v_error);
    if v_found.ordinal = 0 then
      perform app.mark_started(array[v_stage.stage_id]);
    end if;
    perform app.settle_skip(v_stage);
  else
    perform app.skip_ended(v_stage, v_found.ordinal, v_error);
  end if;
  perform app.note(v_tenant, 'task.skipped', v_stage.job_id, v_stage.stage_id, left(reason, 1000),
    jsonb_build_object('task_id', task_id, 'was', v_status), actor);
  return json_build_object('task_id', task_id, 'status', 'skipped', 'dry_run', false, 'changed', true);
end $$;
grant execute on function app.skip_task(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
