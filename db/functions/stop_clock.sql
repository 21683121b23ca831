-- While a job waits for a person its deadline does not come nearer. The caller holds the job's row.
create or replace function app.stop_clock(job app.jobs)
returns void
language plpgsql
as $$
begin
  update app.jobs j
     set deadline_left_s = greatest(extract(epoch from j.deadline_at - now()), 1), deadline_at = null
   where j.tenant_id = job.tenant_id and j.job_id = job.job_id and j.deadline_at is not null;
end $$;
