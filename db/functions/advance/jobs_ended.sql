-- What follows from the end of jobs, in the transaction that ends them. Called by everything that ends a job, with the jobs' rows
-- held and already updated; jobs may be of several tenants, as pairs. Round by round: jobs that end because of these come next, so
-- that whatever is done here is done for them too. Requests come when no job is left to lock: a request is locked after all jobs.
create or replace function app.jobs_ended(tenants text[], job_ids text[])
returns void
language plpgsql
as $$
declare
  v_tenants text[] := tenants;
  v_jobs text[] := job_ids;
  v_waiting text[];
  v_request_tenants text[] := '{}'::text[];
  v_requests text[] := '{}'::text[];
  v_asked record;
begin
  while v_jobs <> '{}' loop
    v_asked := app.count_ended_jobs(v_tenants, v_jobs);
    if v_asked.ids is not null then
      v_request_tenants := v_request_tenants || v_asked.tenants;
      v_requests := v_requests || v_asked.ids;
    end if;
    if v_asked.grouped then
      perform app.count_in_groups(v_tenants, v_jobs);
    end if;
    if v_asked.heard or exists (select from app.webhook_endpoints e where e.tenant_id = any (v_tenants) and e.disabled_at is null) then
      perform app.write_webhooks(v_tenants, v_jobs);
    end if;
    v_waiting := app.tenants_with_dependents(v_tenants, v_jobs);
    if v_waiting <> '{}' then
      perform app.lock_dependents(v_waiting);
      select t.tenants, t.job_ids into v_tenants, v_jobs from app.tell_dependents(v_tenants, v_jobs) t;
      continue when v_jobs <> '{}';
    end if;
    exit when v_requests = '{}';
    -- What these end are jobs that began just now: nobody waits for them.
    select a.tenants, a.ids into v_tenants, v_jobs from platform.advance_requests(v_request_tenants, v_requests) a;
    v_request_tenants := '{}'::text[];
    v_requests := '{}'::text[];
  end loop;
end $$;
