-- The job whose stage this is; null for lone tasks, and for a stage of another tenant.
create or replace function app.job_of(tenant text, stage bigint)
returns text
language sql stable
as $$
  select s.job_id from app.stages s where s.tenant_id = tenant and s.stage_id = stage
$$;
