-- Cancels jobs that wait for a job which ended badly, and says for which. Nothing of them ever started: no task, no ledger, no
-- claim. The caller holds the jobs' rows, and tells what follows from their end.
create or replace function app.cancel_dependents(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
begin
  update app.stages s
     set status = 'cancelled', closed_at = now()
   where s.stage_id = any (array(
     select g.stage_id
       from unnest(tenants, job_ids) as c(tenant_id, job_id)
       cross join lateral (
         select * from app.stages g where g.tenant_id = c.tenant_id and g.job_id = c.job_id and g.closed_at is null offset 0) g));
  update app.jobs j
     set status = 'cancelled', finished_at = now(), paused_at = null, paused_by = null, pause_reason = null,
         error = jsonb_build_object('code', 'dependency', 'depends_on', d.job_id, 'message',
           'it depends on job ' || left(d.job_id, 12) || ' (' || d.job_type || '), which ended ' || d.status
           || case when d.status = 'partial_success' then ' and had to complete' else '' end)
    from (
      select o.job_id, o.job_type, o.status, p.place
        from unnest(tenants, job_ids) as c(tenant_id, job_id)
        cross join lateral (
          select p.ctid as place from app.jobs p where p.tenant_id = c.tenant_id and p.job_id = c.job_id offset 0) p
        cross join lateral (
          select q.job_id, q.job_type, q.status
            from app.job_dependencies w
            cross join lateral (select * from app.jobs q where q.tenant_id = w.tenant_id and q.job_id = w.depends_on offset 0) q
           where w.tenant_id = c.tenant_id and w.job_id = c.job_id and w.satisfied_at is null and q.finished_at is not null
           order by q.finished_at desc, q.job_id
           limit 1) o
    ) d
   where j.ctid = d.place;
  insert into app.events (tenant_id, kind, job_id, reason, audit, data)
  select j.tenant_id, 'job.cancelled', j.job_id, j.error ->> 'message', true, jsonb_build_object('depends_on', j.error ->> 'depends_on')
    from unnest(tenants, job_ids) as c(tenant_id, job_id)
    cross join lateral (select * from app.jobs q where q.tenant_id = c.tenant_id and q.job_id = c.job_id offset 0) j;
end $$;
