-- The job's deadline runs on, unless it is still paused, or waits for another job or another approval. The caller holds the job's row.
create or replace function app.start_clock(job app.jobs)
returns void
language plpgsql
as $$
begin
  update app.jobs j
     set deadline_at = now() + make_interval(secs => j.deadline_left_s), deadline_left_s = null
   where j.tenant_id = job.tenant_id and j.job_id = job.job_id and j.deadline_left_s is not null and j.paused_at is null
     and j.waits_for = 0
     and not exists (
       select from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.status = 'waiting_approval');
end $$;
