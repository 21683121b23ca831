-- Jobs that wait for nothing more start, and their deadlines with them. Gives those that ended at once, because nothing of them was
-- to run. The caller holds the jobs' rows.
create or replace function app.release_dependents(inout tenants text[], inout job_ids text[])
language plpgsql
as $$
begin
  insert into app.events (tenant_id, kind, job_id)
  select r.tenant_id, 'job.released', r.job_id from unnest(tenants, job_ids) as r(tenant_id, job_id);
  perform app.start_clock(j.job)
     from unnest(tenants, job_ids) as r(tenant_id, job_id)
     cross join lateral (
       select q as job from app.jobs q
        where q.tenant_id = r.tenant_id and q.job_id = r.job_id and q.deadline_left_s is not null offset 0) j;
  select e.tenants, e.job_ids into tenants, job_ids from app.open_or_end(tenants, job_ids) e;
end $$;
