-- Submits one job that has nothing but parameters, of a blueprint that is kept already, for a tenant without limits: the rows that submit_jobs
-- writes, in statements that know that it is one. Null, and nothing written, where it takes more than that: the blueprint is not kept, the job
-- is there already, or its parameters are refused. `parameters` and `identity` are canonical JSON text.
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
  v_stage record;
  v_slow boolean := false;
  v_status app.job_status;
begin
  if parameters is null or left(parameters, 1) <> '{' or octet_length(parameters) > 262144 or strpos(parameters, '"webhook_secret"') > 0
    or app.may_hold_wild_numbers(parameters)
  then
    return null;
  end if;
  select b.job_type, app.usual_deadline_s(b.blueprint) into v_type, v_deadline_s
    from app.blueprints b
   where b.tenant_id = v_tenant and b.blueprint_hash = submit_kept_job.blueprint_hash
     and not exists (select from app.limits l where l.tenant_id = v_tenant)
     -- An older version may have kept the blueprint without its stages.
     and exists (select from app.blueprint_stages s where s.tenant_id = v_tenant and s.blueprint_hash = submit_kept_job.blueprint_hash);
  if not found then
    return null;
  end if;
  v_hash := app.content_hash(v_tenant, v_type, coalesce(identity, parameters), null);
  v_id := app.content_hash(v_tenant, v_type, coalesce(identity, parameters), 1);
  -- Retention may have taken the first run and left a later one: then it is not new.
  perform from app.jobs j where j.tenant_id = v_tenant and j.content_hash = v_hash limit 1;
  if found then
    return null;
  end if;
  insert into app.jobs (
    tenant_id, job_id, content_hash, run, job_type, blueprint_hash, parameters, deadline_s, deadline_left_s, traceparent)
  values (
    v_tenant, v_id, v_hash, 1, v_type, submit_kept_job.blueprint_hash, submit_kept_job.parameters::jsonb, v_deadline_s, v_deadline_s,
    submit_kept_job.traceparent)
  on conflict do nothing;
  if not found then
    return null;
  end if;
  insert into app.events (tenant_id, kind, job_id, actor)
  values (v_tenant, 'job.submitted', v_id, coalesce(left(submit_kept_job.actor, 200), session_user));
  -- As insert_stages, of one job that waits for nothing.
  for v_stage in
    insert into app.stages (
      tenant_id, job_id, number, name, task_type, parallelism, importance, after, of_number, waiting_for, batch, max_parallel, timeout_s, max_attempts,
      retry, budget_count, budget_percent, condition, plan, description, on_task_failure, gate, status, total, opened_at)
    select
      v_tenant, v_id, d.number, d.name, d.task_type, d.parallelism, d.importance, d.after, d.of_number, cardinality(d.after), d.batch, d.max_parallel,
      d.timeout_s, d.max_attempts, d.retry, d.budget_count, d.budget_percent, d.condition, d.plan, d.description, d.on_task_failure, d.gate,
      case when d.starts then app.stage_status 'processing' else 'waiting' end, case when d.starts then 1 end, case when d.starts then now() end
      from app.blueprint_stages d
     where d.tenant_id = v_tenant and d.blueprint_hash = submit_kept_job.blueprint_hash
     order by d.number
    returning stage_id, number, task_type, status, waiting_for
  loop
    if v_stage.status = 'processing' then
      insert into app.tasks (stage_id, ordinal, tenant_id) values (v_stage.stage_id, 0, v_tenant);
      insert into app.stage_progress (stage_id, tenant_id, total, remaining) values (v_stage.stage_id, v_tenant, 1, 1);
      insert into app.ready (stage_id, lo, hi, tenant_id, task_type, turn)
      values (
        v_stage.stage_id, 0, 1, v_tenant, v_stage.task_type, app.opening_turn(v_id, v_stage.stage_id, 1, v_stage.number > 1, false));
      perform app.wake(array[v_stage.task_type]);
    elsif v_stage.waiting_for = 0 then
      v_slow := true;
    end if;
  end loop;
  if v_slow then
    perform app.advance_jobs(array[v_tenant], array[v_id]);
    select j.status into v_status from app.jobs j where j.tenant_id = v_tenant and j.job_id = v_id;
    return app.submitted_record(v_type, v_id, 1, v_status, true, false, 1);
  end if;
  -- As submitted_record says it, of a digest and a name, which JSON writes as they are.
  return ('{"job_id":"' || v_id || '","job_type":"' || v_type || '","run":1,"status":"queued","created":true,"resumed":false,"epoch":1,"hint":"'
    || app.job_hint('queued') || '","action":{"verb":"watch","job_id":"' || v_id || '"}}')::json;
end $$;
grant execute on function app.submit_kept_job(text, text, text, text, text, text) to fanfold_api, fanfold_admin;
