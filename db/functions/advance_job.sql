-- Opens whatever of a job may open now; if that ended it, what follows from its end is done too. The caller holds the job's row.
create or replace function app.advance_job(job app.jobs)
returns void
language plpgsql
as $$
begin
  if app.open_or_end(job) then
    perform app.jobs_ended(array[job.tenant_id], array[job.job_id]);
  end if;
end $$;
