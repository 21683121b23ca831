-- Continues a failed, cancelled or partial job under the same id: what completed stays, what failed, was cancelled or never ran
-- runs again, and downstream exactly what has another input then.
create or replace function app.resume_job(
  job_id text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), resume_job.job_id);
begin
  if v_job.status = 'completed' then
    raise exception 'job % is completed: there is nothing to resume', left(v_job.job_id, 12)
      using errcode = 'FF006', hint = 'submit with mode "force", or run a stage again', detail = app.action('retry_stage', job_id => v_job.job_id);
  end if;
  return app.repair_job(v_job, 'resume', null, coalesce(dry_run, false), reason, actor);
end $$;
grant execute on function app.resume_job(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
