-- The job's deadline runs on, unless it is still paused, or waits for another job or another approval; one that counts from the start of
-- work is left to the first claim. The caller holds the job's row.
create or replace function app.start_clock(job app.jobs)
returns void
language plpgsql
as $$
begin
  update app.jobs j
     set clock_stands = false,
         deadline_at = case when j.deadline_from = 'submit' or j.started_at is not null then now() + make_interval(secs => j.deadline_left_s) end,
         deadline_left_s = case when j.deadline_from = 'start' and j.started_at is null then j.deadline_left_s end
   where j.tenant_id = job.tenant_id and j.job_id = job.job_id and j.deadline_left_s is not null
     and (j.clock_stands or j.started_at is null) and j.paused_at is null and j.waits_for = 0
     and not exists (
       select from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.status = 'waiting_approval');
end $$;
