-- For reports: a job of the tenant whose task asks, as its status shows it.
create or replace function app.report_job(job_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return app.get_job(job_id, app.acting_tenant(tenant));
end $$;
grant execute on function app.report_job(text, text) to fanfold_worker, fanfold_admin;
