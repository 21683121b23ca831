-- Runs every task of one stage of an ended job again, and what follows it. The stage is named by name or number.
create or replace function app.retry_stage(
  job_id text, stage text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), retry_stage.job_id);
  v_stage app.stages := app.find_stage(v_job, stage);
begin
  if v_stage.status = 'cancelled' and v_stage.total is null then
    raise exception 'stage "%" was never reached', v_stage.name
      using errcode = 'FF006', hint = 'resume the job', detail = app.action('resume', job_id => v_job.job_id);
  end if;
  return app.repair_job(v_job, 'stage', v_stage.name, coalesce(dry_run, false), reason, actor);
end $$;
grant execute on function app.retry_stage(text, text, text, boolean, text, text) to fanfold_api, fanfold_admin;
