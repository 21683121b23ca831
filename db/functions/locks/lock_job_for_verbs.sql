-- A verb that ends, repairs or pauses a job waits here for the others that would. It holds this before it locks any row. A job that was taken
-- away while the verb waited is not there for it either.
create or replace function app.lock_job_for_verbs(job app.jobs)
returns void
language plpgsql
as $$
begin
  perform app.lock_named(job.tenant_id || ' job ' || job.job_id);
  if not exists (select from app.jobs j where j.tenant_id = job.tenant_id and j.job_id = job.job_id) then
    raise exception 'there is no job "%"', job.job_id
      using errcode = 'FF001', hint = 'it was removed just now; list them', detail = app.action('jobs.list');
  end if;
end $$;
