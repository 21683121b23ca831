-- Whoever ends, repairs or pauses a job waits here for others who would. Held before any row is locked.
create or replace function app.lock_job_for_verbs(job app.jobs)
returns void
language plpgsql
as $$
begin
  perform app.lock_named(job.tenant_id || ' job ' || job.job_id);
end $$;
