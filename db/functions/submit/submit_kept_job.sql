-- Submits one job that has nothing but parameters, of a blueprint that is kept already, for a tenant without limits: the rows that submit_jobs
-- writes, in fewer statements. Null, and nothing written, where it takes more than that: the blueprint is not kept, the job is there already,
-- or its parameters are refused. `parameters` and `identity` are canonical JSON text.
create or replace function app.submit_kept_job(
  blueprint_hash text, parameters text, identity text default null, traceparent text default null, actor text default null,
  tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_type text;
  v_deadline_s double precision;
  v_hash text;
  v_id text;
  v_slow text[];
  v_job app.jobs;
begin
  if parameters is null or octet_length(parameters) > 262144 or strpos(parameters, '"webhook_secret"') > 0 or app.may_hold_wild_numbers(parameters) then
    return null;
  end if;
  select b.job_type, app.usual_deadline_s(b.blueprint) into v_type, v_deadline_s
    from app.blueprints b
   where b.tenant_id = v_tenant and b.blueprint_hash = submit_kept_job.blueprint_hash
     and not exists (select from app.limits l where l.tenant_id = v_tenant);
  if not found then
    return null;
  end if;
  v_hash := app.content_hash(v_tenant, v_type, coalesce(identity, parameters), null);
  v_id := app.content_hash(v_tenant, v_type, coalesce(identity, parameters), 1);
  with made as (
    insert into app.jobs (
      tenant_id, job_id, content_hash, run, job_type, blueprint_hash, parameters, deadline_s, deadline_left_s, traceparent)
    select v_tenant, v_id, v_hash, 1, v_type, submit_kept_job.blueprint_hash, submit_kept_job.parameters::jsonb, v_deadline_s, v_deadline_s,
      submit_kept_job.traceparent
     where not exists (select from app.jobs j where j.tenant_id = v_tenant and j.content_hash = v_hash)
    on conflict do nothing
    returning job_id
  )
  insert into app.events (tenant_id, kind, job_id, actor)
  select v_tenant, 'job.submitted', m.job_id, coalesce(left(submit_kept_job.actor, 200), session_user) from made m;
  if not found then
    return null;
  end if;
  v_slow := app.insert_stages(v_tenant, array[v_id], submit_kept_job.blueprint_hash);
  if v_slow is not null then
    perform app.advance_jobs(array[v_tenant], v_slow);
    select * into v_job from app.jobs j where j.tenant_id = v_tenant and j.job_id = v_id;
  end if;
  return app.submitted_record(v_type, v_id, 1, coalesce(v_job.status, 'queued'), true, false, 1);
end $$;
grant execute on function app.submit_kept_job(text, text, text, text, text, text) to fanfold_api, fanfold_admin;
