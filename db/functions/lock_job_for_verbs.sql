-- Whoever ends, repairs or pauses a job waits here for others who would. Held before any row is locked.
create or replace function app.lock_job_for_verbs(job app.jobs)
returns void
language plpgsql
as $$
begin
  perform pg_advisory_xact_lock(app.lock_key(job.tenant_id || job.job_id, 3));
end $$;
