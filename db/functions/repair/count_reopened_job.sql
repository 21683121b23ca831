-- An ended job is opened again: it is no longer one of those that ended so. The caller holds its row, and has not changed it yet.
create or replace function app.count_reopened_job(job app.jobs)
returns void
language plpgsql
as $$
begin
  insert into app.job_tallies (tenant_id, job_type, status, amount) values (job.tenant_id, job.job_type, job.status, -1);
end $$;
