-- Cancels a job. What ended stays ended, and says so.
create or replace function app.cancel_job(job_id text, reason text default null, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), cancel_job.job_id);
begin
  v_job := app.end_job(v_job, 'cancelled', jsonb_build_object(
    'code', 'cancelled', 'message', coalesce(left(reason, 1000), 'cancelled on request')));
  if v_job.finished_at is not null and v_job.status <> 'cancelled' then
    raise exception 'job % is %, which is final', left(v_job.job_id, 12), v_job.status using errcode = 'FF006';
  end if;
  return json_build_object('job_id', v_job.job_id, 'status', 'cancelled', 'changed', v_job.finished_at is null);
end $$;
grant execute on function app.cancel_job(text, text, text) to fanfold_api, fanfold_admin;
