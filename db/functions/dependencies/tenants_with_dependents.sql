-- Which of these tenants have jobs that wait for these jobs.
create or replace function app.tenants_with_dependents(tenants text[], job_ids text[])
returns text[]
language plpgsql stable
as $$
begin
  return array(
    select distinct e.tenant_id
      from unnest(tenants, job_ids) as e(tenant_id, job_id)
     cross join lateral (
       select from app.job_dependencies d
        where d.tenant_id = e.tenant_id and d.depends_on = e.job_id and d.satisfied_at is null limit 1) d);
end $$;
