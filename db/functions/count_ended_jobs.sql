-- Counts jobs by how they ended, in the transaction that ends them.
create or replace function app.count_ended_jobs(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
begin
  insert into app.tallies (name, label, amount)
  select 'jobs_ended', j.status, count(*)
    from unnest(tenants, job_ids) as e(tenant, job_id)
    cross join lateral (select q.status from app.jobs q where q.tenant_id = e.tenant and q.job_id = e.job_id offset 0) j
   group by j.status;
end $$;
