-- Cancels jobs that wait for a job which ended badly, and says for which. Nothing of them ever started: no task, no ledger, no
-- claim. The caller holds the jobs' rows, and tells what follows from their end.
create or replace function app.cancel_dependents(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
begin
  update app.stages s
     set status = 'cancelled', closed_at = now()
    from unnest(tenants, job_ids) as c(tenant_id, job_id)
   where s.tenant_id = c.tenant_id and s.job_id = c.job_id and s.closed_at is null;
  update app.jobs j
     set status = 'cancelled', finished_at = now(), paused_at = null, paused_by = null, pause_reason = null,
         error = jsonb_build_object('code', 'dependency', 'depends_on', d.job_id, 'message',
           'it depends on job ' || left(d.job_id, 12) || ' (' || d.job_type || '), which ended ' || d.status
           || case when d.status = 'partial_success' then ' and had to complete' else '' end)
    from unnest(tenants, job_ids) as c(tenant_id, job_id)
    cross join lateral (
      select q.job_id, q.job_type, q.status
        from app.job_dependencies w
        join app.jobs q on q.tenant_id = w.tenant_id and q.job_id = w.depends_on
       where w.tenant_id = c.tenant_id and w.job_id = c.job_id and w.satisfied_at is null and q.finished_at is not null
       order by q.finished_at desc, q.job_id
       limit 1) d
   where j.tenant_id = c.tenant_id and j.job_id = c.job_id;
  insert into app.events (tenant_id, kind, job_id, reason, data)
  select j.tenant_id, 'job.cancelled', j.job_id, j.error ->> 'message', jsonb_build_object('depends_on', j.error ->> 'depends_on')
    from unnest(tenants, job_ids) as c(tenant_id, job_id)
    join app.jobs j on j.tenant_id = c.tenant_id and j.job_id = c.job_id;
end $$;
