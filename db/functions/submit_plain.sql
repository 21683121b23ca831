-- Submits one job that has nothing but parameters, for a tenant without limits: the rows that submit_jobs writes, in fewer statements.
-- Null, and nothing written, where it takes more than that: it is there already, or its parameters are refused.
create or replace function app.submit_plain(kept app.blueprints, job json)
returns json
language plpgsql
as $$
declare
  v_parameters text := job ->> 'parameters';
  v_content text := coalesce(job ->> 'identity', v_parameters);
  v_hash text := app.content_hash(kept.tenant_id, kept.job_type, v_content, null);
  v_id text := app.content_hash(kept.tenant_id, kept.job_type, v_content, 1);
  v_deadline_s double precision := app.usual_deadline_s(kept.blueprint);
  v_slow text[];
  v_job app.jobs;
begin
  if v_parameters is null or octet_length(v_parameters) > 262144 or app.may_hold_wild_numbers(v_parameters)
     or exists (select from app.jobs j where j.tenant_id = kept.tenant_id and j.content_hash = v_hash) then
    return null;
  end if;
  insert into app.jobs (
    tenant_id, job_id, content_hash, run, job_type, blueprint_hash, parameters, deadline_s, deadline_left_s, traceparent)
  values (
    kept.tenant_id, v_id, v_hash, 1, kept.job_type, kept.blueprint_hash, v_parameters::jsonb, v_deadline_s,
    v_deadline_s, job ->> 'traceparent')
  on conflict do nothing;
  if not found then
    return null;
  end if;
  insert into app.events (tenant_id, kind, job_id, actor)
  values (kept.tenant_id, 'job.submitted', v_id, coalesce(left(job ->> 'actor', 200), session_user));
  v_slow := app.insert_stages(kept.tenant_id, array[v_id], kept.blueprint);
  if v_slow is not null then
    select * into v_job from app.jobs j where j.tenant_id = kept.tenant_id and j.job_id = v_id;
    perform app.advance_job(v_job);
    select * into v_job from app.jobs j where j.tenant_id = kept.tenant_id and j.job_id = v_id;
  end if;
  return app.submitted_record(kept.job_type, v_id, 1, coalesce(v_job.status, 'queued'), true, false, 1);
end $$;
