-- Takes one ended job away for good, with all that hangs on it. Files that it delivered stay; what people did to it stays in the audit.
create or replace function app.purge_job(
  job_id text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), purge_job.job_id);
  v_tasks bigint;
  v_keeper text;
begin
  if dry_run is not true then
    perform app.hold_jobs(v_job.tenant_id, array[v_job.job_id], true);
    -- Another may have taken it away while we waited, or opened it again.
    v_job := app.find_job(v_job.tenant_id, v_job.job_id);
  end if;
  select coalesce(sum(s.total), 0) into v_tasks from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id;
  select k.keeper into v_keeper from app.job_keepers(v_job.tenant_id, array[v_job.job_id]) k;
  if v_job.finished_at is null then
    raise exception 'job % is %, not ended', left(v_job.job_id, 12), v_job.status
      using errcode = 'FF006', hint = 'wait for its end, or cancel it', detail = app.action('cancel', job_id => v_job.job_id);
  elsif v_keeper is not null then
    raise exception 'job % cannot go: %', left(v_job.job_id, 12), v_keeper
      using errcode = 'FF006', hint = 'it may go once nothing refers to it', detail = app.action('jobs.status', job_id => v_job.job_id);
  end if;
  if dry_run is not true then
    perform app.remove_jobs(v_job.tenant_id, array[v_job.job_id]);
    perform app.note(v_job.tenant_id, 'job.purged', v_job.job_id, null, reason,
      jsonb_build_object('job_type', v_job.job_type, 'status', v_job.status, 'finished_at', v_job.finished_at, 'tasks', v_tasks), actor);
  end if;
  return json_build_object('job_id', v_job.job_id, 'status', v_job.status, 'tasks', v_tasks,
    'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true);
end $$;
grant execute on function app.purge_job(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
