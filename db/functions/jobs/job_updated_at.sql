-- When something of a job last changed that its status shows: the newest moment on its own row, its stages and its events. It is stored
-- nowhere, so that no task's end has to write it.
create or replace function app.job_updated_at(job app.jobs)
returns timestamptz
language plpgsql stable
as $$
begin
  return greatest(job.created_at, job.started_at, job.paused_at, job.finished_at, (
    select max(greatest(s.opened_at, s.closed_at)) from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id), (
    select e.at from app.events e where e.tenant_id = job.tenant_id and e.job_id = job.job_id order by e.event_id desc limit 1));
end $$;
