-- A job of a request was planned by code: it opens with these parameters (null: with its template), is skipped, or failed before there was
-- a job. What nobody waits for any more is dropped.
create or replace function platform.plan_done(request_id text, job text, answer jsonb, task_id text, tenant text default null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_job platform.request_jobs;
begin
  -- On a connection that handlers of all tenants share.
  perform app.wait_briefly();
  perform 1 from platform.requests r where r.tenant_id = v_tenant and r.request_id = plan_done.request_id for no key update;
  v_job := platform.waiting_plan(v_tenant, plan_done.request_id, plan_done.job, plan_done.task_id);
  if v_job.request_id is null then
    return false;
  end if;
  if answer ? 'error' then
    perform platform.close_job(v_job, 'failed', null, answer -> 'error');
  elsif answer ? 'skip' then
    perform platform.close_job(v_job, 'skipped', 'when', null);
  else
    -- What the functions said is kept beside them: they are asked again only after a repair.
    update platform.request_jobs j
       set phase = 'waiting', condition = j.condition || '{"met": true}',
           parameters = case when jsonb_typeof(answer -> 'parameters') <> 'null' then coalesce(j.parameters, '{}') || jsonb_build_object(
             'made', answer -> 'parameters') else j.parameters end
     where j.tenant_id = v_tenant and j.request_id = v_job.request_id and j.number = v_job.number;
  end if;
  perform platform.advance(v_tenant, v_job.request_id);
  return true;
end $$;
grant execute on function platform.plan_done(text, text, jsonb, text, text) to fanfold_worker, fanfold_admin;
