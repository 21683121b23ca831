-- A job that waits for other jobs: which, and why the first of them does not move, if it does not.
create or replace function app.why_dependency(job app.jobs)
returns json
language plpgsql stable
as $$
declare
  v_other app.jobs;
  v_why json;
begin
  select q.* into v_other
    from app.job_dependencies d
    join app.jobs q on q.tenant_id = d.tenant_id and q.job_id = d.depends_on
   where d.tenant_id = job.tenant_id and d.job_id = job.job_id and d.satisfied_at is null
   order by q.waits_for, q.created_at, q.job_id
   limit 1;
  -- Only the next link of a chain is asked: it may itself wait for others.
  if v_other.finished_at is null and v_other.waits_for = 0 then
    v_why := app.why_job(v_other);
  end if;
  return app.verdict('WAITING_DEPENDENCY',
    format('job %s waits for %s', left(job.job_id, 12), case
      when job.waits_for = 1 then format('job %s (%s), which is %s', left(v_other.job_id, 12), v_other.job_type, v_other.status)
      else format('%s jobs; one of them is %s (%s), which is %s', job.waits_for, left(v_other.job_id, 12), v_other.job_type, v_other.status) end),
    json_build_object('waits_for', job.waits_for,
      'jobs', (
        select json_agg(json_build_object('job_id', w.job_id, 'job_type', w.job_type, 'status', w.status, 'needs', w.needs))
          from (
            select q.job_id, q.job_type, q.status, d.needs
              from app.job_dependencies d
              join app.jobs q on q.tenant_id = d.tenant_id and q.job_id = d.depends_on
             where d.tenant_id = job.tenant_id and d.job_id = job.job_id and d.satisfied_at is null
             order by q.waits_for, q.created_at, q.job_id
             limit 20) w),
      'there', case when v_why is not null then json_build_object('code', v_why ->> 'code', 'reason', v_why ->> 'reason') end),
    job.created_at, (v_why ->> 'heals_at')::timestamptz, 'when those jobs have ended; its deadline starts then',
    coalesce((v_why ->> 'action')::jsonb, app.action('why', job_id => v_other.job_id)));
end $$;
