-- What the worker that plans a job of a request is told: {request, jobs}; null when nobody waits for it any more.
create or replace function platform.plan_facts(request_id text, job text, task_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_request platform.requests;
begin
  if (platform.waiting_plan(v_tenant, plan_facts.request_id, plan_facts.job, plan_facts.task_id)).request_id is null then
    return null;
  end if;
  select * into v_request from platform.requests r where r.tenant_id = v_tenant and r.request_id = plan_facts.request_id;
  return platform.request_scope(v_request, true)::json;
end $$;
grant execute on function platform.plan_facts(text, text, text, text) to fanfold_worker, fanfold_admin;
