-- A job that was cancelled because one it depends on ended badly goes on only when that one is under way again. The caller holds the
-- job's row: a verb that ends one of the others now waits for it, and looks at this job afterwards.
create or replace function app.assert_resumable(job app.jobs)
returns void
language plpgsql
as $$
declare
  v_other app.jobs;
begin
  if job.waits_for = 0 then
    return;
  end if;
  select q.* into v_other
    from app.job_dependencies d
    join app.jobs q on q.tenant_id = d.tenant_id and q.job_id = d.depends_on
   where d.tenant_id = job.tenant_id and d.job_id = job.job_id and d.satisfied_at is null and q.finished_at is not null
   order by q.finished_at, q.job_id
   limit 1;
  if found then
    raise exception 'job % depends on job % (%), which is %', left(job.job_id, 12), left(v_other.job_id, 12), v_other.job_type, v_other.status
      using errcode = 'FF006', hint = 'resume that one first', detail = app.action('resume', job_id => v_other.job_id);
  end if;
end $$;
