-- The standing stage of a tenant's task type: no job, no ledger, never closes. Made by the first task of the type.
create or replace function app.standing_stage(tenant text, type text)
returns bigint
language plpgsql
as $$
declare
  v_stage bigint;
begin
  select s.stage_id into v_stage from app.stages s where s.tenant_id = tenant and s.task_type = type and s.job_id is null;
  if found then
    return v_stage;
  end if;
  if type is null or type !~ '^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$' or length(type) > 63 then
    raise exception '"%" is not a task type', left(coalesce(type, 'null'), 80)
      using errcode = 'FF002', hint = 'dotted lower-case names such as email.send, at most 63 characters';
  end if;
  insert into app.stages (tenant_id, name, task_type, status, timeout_s)
  values (tenant, 'standing', type, 'processing', 1800)
  on conflict (tenant_id, task_type) where job_id is null do nothing;
  select s.stage_id into v_stage from app.stages s where s.tenant_id = tenant and s.task_type = type and s.job_id is null;
  return v_stage;
end $$;
