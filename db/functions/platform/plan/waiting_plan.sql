-- The job of a request that this task is to plan; null when nobody waits for it any more.
create or replace function platform.waiting_plan(tenant text, request text, job text, task text)
returns platform.request_jobs
language sql stable
as $$
  select j
    from platform.request_jobs j
   where j.tenant_id = tenant and j.request_id = request and j.name = job and j.phase = 'planning'
     and j.plan_ordinal = split_part(task, '-', 2)::bigint
$$;
