-- Runs again only the tasks of an ended job that failed with one signature (see error_groups), and what follows them.
create or replace function app.retry_group(
  job_id text, signature text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), retry_group.job_id);
begin
  return app.repair_job(v_job, 'group', signature, coalesce(dry_run, false), reason, actor);
end $$;
grant execute on function app.retry_group(text, text, text, boolean, text, text) to fanfold_api, fanfold_admin;
