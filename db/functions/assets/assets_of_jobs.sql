-- The files that tasks of these jobs have made or recorded first; also those that another job has recorded since.
create or replace function app.assets_of_jobs(tenant text, jobs text[])
returns setof app.assets
language sql stable
as $$
  select a.* from app.assets a where a.tenant_id = tenant and a.job_id = any (jobs) and a.retracted_at is null
  union all
  select a.*
    from app.stages s
    join app.assets a on a.stage_id = s.stage_id and a.job_id is null
   where s.tenant_id = tenant and s.job_id = any (jobs) and a.tenant_id = tenant and a.retracted_at is null
$$;
