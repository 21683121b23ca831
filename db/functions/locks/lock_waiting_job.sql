-- For verbs on one job, before they lock any row: a job that waits for others is theirs only together with the dependents' lock. Not
-- kept for one that was released while we waited for it: it may run, and be in somebody's finish who wants that lock.
create or replace function app.lock_waiting_job(job app.jobs)
returns void
language plpgsql
as $$
begin
  if not exists (
    select from app.job_dependencies d where d.tenant_id = job.tenant_id and d.job_id = job.job_id and d.satisfied_at is null) then
    return;
  end if;
  begin
    perform app.lock_dependents(array[job.tenant_id]);
    if not exists (
      select from app.job_dependencies d where d.tenant_id = job.tenant_id and d.job_id = job.job_id and d.satisfied_at is null) then
      -- Only a rollback gives a lock back.
      raise exception 'released meanwhile' using errcode = 'FF000';
    end if;
  exception
    when sqlstate 'FF000' then null;
  end;
end $$;
