-- What new jobs depend on may have ended badly long ago: the same happens to them as if it did now.
create or replace function app.cancel_doomed(tenant text, job_ids text[])
returns void
language plpgsql
as $$
declare
  v_doomed text[] := array(
    select distinct c
      from unnest(job_ids) c
      cross join lateral (
        select * from app.job_dependencies w where w.tenant_id = tenant and w.job_id = c and w.satisfied_at is null offset 0) d
      cross join lateral (select * from app.jobs q where q.tenant_id = tenant and q.job_id = d.depends_on offset 0) q
     where q.finished_at is not null
     order by c);
  v_tenants text[] := array_fill(tenant, array[cardinality(v_doomed)]);
begin
  if v_doomed <> '{}' then
    perform app.cancel_dependents(v_tenants, v_doomed);
    perform app.jobs_ended(v_tenants, v_doomed);
  end if;
end $$;
