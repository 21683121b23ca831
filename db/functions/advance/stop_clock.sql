-- While a job waits for a person its deadline does not come nearer. The caller holds the job's row.
create or replace function app.stop_clock(job app.jobs)
returns void
language plpgsql
as $$
begin
  update app.jobs j
     set deadline_left_s = case
           when app.deadline_of(j) is null then j.deadline_left_s else greatest(extract(epoch from app.deadline_of(j) - now()), 1) end,
         deadline_at = null,
         clock_stands = true
   where j.tenant_id = job.tenant_id and j.job_id = job.job_id and j.deadline_s is not null;
end $$;
