-- Runs the failed tasks of one ended job again that fit a filter (is_redriven), and what follows them; at once, or not before `run_at`. Where none
-- fits nothing is changed. One job in one transaction: the caller goes through the jobs.
create or replace function app.redrive_job(
  job_id text, filter json, run_at timestamptz default null, reason text default null, dry_run boolean default false, tenant text default null,
  actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), redrive_job.job_id);
  v_wanted constant jsonb := app.redrive_wanted(filter, run_at);
  v_reply json;
begin
  if v_wanted ->> 'job_type' <> v_job.job_type or not exists (
    select from app.stages s
      cross join lateral app.failures_of(s.stage_id, null) f
     where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.task_type = coalesce(v_wanted ->> 'task_type', s.task_type)
       and app.is_redriven(v_wanted, f.error, f.finished_at)) then
    return json_build_object('job_id', v_job.job_id, 'again', 0, 'dry_run', coalesce(dry_run, false), 'changed', false);
  end if;
  v_reply := app.repair_job(v_job, 'failures', v_wanted::text, coalesce(dry_run, false), reason, actor);
  if dry_run is not true and run_at > now() then
    -- The rows are of this transaction: no claim has seen them. What the job waits does not count against its deadline.
    update app.ready r set run_at = redrive_job.run_at, turn = -1
     where r.lo >= 0 and r.stage_id in (select s.stage_id from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id);
    update app.jobs j set deadline_at = redrive_job.run_at + make_interval(secs => j.deadline_s)
     where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id and j.deadline_at is not null;
  end if;
  return json_build_object('job_id', v_job.job_id, 'again', v_reply -> 'again', 'dry_run', v_reply -> 'dry_run', 'changed', v_reply -> 'changed');
end $$;
grant execute on function app.redrive_job(text, json, timestamptz, text, boolean, text, text) to fanfold_api, fanfold_admin;
