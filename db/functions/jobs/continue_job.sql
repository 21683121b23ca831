-- A paused job goes on: what was put aside may be claimed again.
create or replace function app.continue_job(
  job_id text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), continue_job.job_id);
  v_stages bigint[];
  v_queued bigint;
begin
  perform app.lock_job_for_verbs(v_job);
  select * into v_job from app.jobs j where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id for update;
  if v_job.finished_at is not null then
    raise exception 'job % is %, which is final', left(v_job.job_id, 12), v_job.status
      using errcode = 'FF006', hint = app.job_hint(v_job.status), detail = coalesce(app.job_action(v_job.status, v_job.job_id)::text, '');
  end if;
  v_stages := array(select s.stage_id from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id);
  if dry_run is not true then
    -- A claimer puts aside under a share lock on the stage's row: when this update is through, all that was put aside is seen.
    -- It may wait for ready rows although it holds the job's: a holder of those that would wait for the job waits for this
    -- verb's lock instead, and claimers never wait.
    update app.stages set paused = false where stage_id = any (v_stages) and paused;
    perform app.unpark(v_stages);
  end if;
  select coalesce(sum(r.hi - r.lo), 0) into v_queued from app.ready r where r.stage_id = any (v_stages) and r.lo >= 0;
  if dry_run is not true and v_job.paused_at is not null then
    update app.jobs j set paused_at = null, paused_by = null, pause_reason = null
     where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id;
    perform app.start_clock(v_job);
    perform app.note(v_job.tenant_id, 'job.continued', v_job.job_id, null, reason, jsonb_build_object('queued', v_queued), actor);
    perform app.wake(array(select distinct r.task_type from app.ready r where r.stage_id = any (v_stages)));
  end if;
  return json_build_object('job_id', v_job.job_id, 'status', v_job.status, 'paused', coalesce(dry_run, false) and v_job.paused_at is not null,
    'queued', v_queued, 'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true and v_job.paused_at is not null);
end $$;
grant execute on function app.continue_job(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
