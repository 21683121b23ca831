-- Where a job stands, and no more: for those who wait for its end.
create or replace function app.job_state(job_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), job_state.job_id);
begin
  return json_build_object('job_id', v_job.job_id, 'status', v_job.status, 'epoch', v_job.epoch);
end $$;
grant execute on function app.job_state(text, text) to fanfold_api, fanfold_admin;
