-- Nothing of a paused job is claimed; what runs may finish, and what it opens waits too. The deadline waits with it.
create or replace function app.pause_job(
  job_id text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), pause_job.job_id);
  v_stages bigint[];
  v_queued bigint;
begin
  perform app.lock_job_for_verbs(v_job);
  select * into v_job from app.jobs j where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id for update;
  if v_job.finished_at is not null then
    raise exception 'job % is %, which is final', left(v_job.job_id, 12), v_job.status
      using errcode = 'FF006', hint = 'see how it ended', detail = app.action('jobs.status', job_id => v_job.job_id);
  end if;
  v_stages := array(select s.stage_id from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id);
  select coalesce(sum(r.hi - r.lo), 0) into v_queued from app.ready r where r.stage_id = any (v_stages) and r.lo >= 0;
  if dry_run is not true and v_job.paused_at is null then
    -- A claim looks at its stage's row: from here on it takes nothing of this job, and puts aside what it meets.
    update app.stages set paused = true where stage_id = any (v_stages);
    update app.jobs j
       set paused_at = now(), paused_by = coalesce(left(actor, 200), session_user), pause_reason = left(reason, 1000)
     where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id;
    perform app.stop_clock(v_job);
    perform app.note(v_job.tenant_id, 'job.paused', v_job.job_id, null, reason, jsonb_build_object('queued', v_queued), actor);
  end if;
  return json_build_object('job_id', v_job.job_id, 'status', v_job.status, 'paused', dry_run is not true or v_job.paused_at is not null,
    'queued', v_queued, 'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true and v_job.paused_at is null);
end $$;
grant execute on function app.pause_job(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
