-- Cancels a job. What ended stays ended, and says so.
create or replace function app.cancel_job(
  job_id text, reason text default null, tenant text default null, dry_run boolean default false, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), cancel_job.job_id);
  v_stages bigint[] := array(select s.stage_id from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id);
  v_queued bigint := (select coalesce(sum(r.hi - r.lo), 0) from app.ready r where r.stage_id = any (v_stages) and r.lo >= 0);
  v_running bigint := (select coalesce(sum(app.held_count(k.held)), 0) from app.claims k where k.stage_id = any (v_stages) and not k.held @> -1::bigint);
  -- A worker that plans a stage is no running task, and has to stop all the same.
  v_held boolean := exists (select from app.claims k where k.stage_id = any (v_stages));
begin
  if dry_run is not true then
    v_job := app.end_job(v_job, 'cancelled', jsonb_build_object(
      'code', 'cancelled', 'message', coalesce(left(reason, 1000), 'cancelled on request')), actor);
    if v_job.finished_at is null and v_held then
      -- Running handlers learn of it now rather than with their next heartbeat.
      perform pg_notify('fanfold_ready', '#cancelled');
    end if;
  end if;
  if v_job.finished_at is not null and v_job.status <> 'cancelled' then
    raise exception 'job % is %, which is final', left(v_job.job_id, 12), v_job.status
      using errcode = 'FF006', hint = 'see how it ended', detail = app.action('jobs.status', job_id => v_job.job_id);
  end if;
  return json_build_object('job_id', v_job.job_id, 'status', case when dry_run then v_job.status::text else 'cancelled' end,
    'queued', v_queued, 'running', v_running, 'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true and v_job.finished_at is null);
end $$;
grant execute on function app.cancel_job(text, text, text, boolean, text) to fanfold_api, fanfold_admin;
