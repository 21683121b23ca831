-- What follows from the end of jobs, in the transaction that ends them. Called by everything that ends a job, with the jobs' rows
-- held and already updated; jobs may be of several tenants, as pairs.
create or replace function app.jobs_ended(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
begin
  perform app.count_ended_jobs(tenants, job_ids);
  perform app.write_webhooks(tenants, job_ids);
end $$;
