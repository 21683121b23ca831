-- Why a job (id or prefix) or a task ('<stage>-<ordinal>') does not move: the first reason that the rows prove, with what proves
-- it, since when, when it heals by itself, and the one action to take. It is one statement of the caller's, so everything it says
-- is true of one moment; it locks nothing and writes nothing. "No heartbeat since t" is a fact, "the worker died" is not.
create or replace function app.why(id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_job app.jobs;
  v_stage app.stages;
  v_found record;
  v_verdict json;
  v_id text;
  v_status text;
begin
  if why.id ~ '[-/]' then
    v_found := app.find_task(v_tenant, why.id);
    v_stage := v_found.stage;
    v_id := v_stage.stage_id || '-' || v_found.ordinal;
    select t.status into v_status from app.task_states t where t.stage_id = v_stage.stage_id and t.ordinal = v_found.ordinal;
    v_verdict := app.why_task(v_stage, v_found.ordinal);
  else
    v_job := app.find_job(v_tenant, why.id);
    v_id := v_job.job_id;
    v_status := v_job.status;
    v_verdict := case when v_job.finished_at is null then app.why_job(v_job) else app.why_ended_job(v_job) end;
  end if;
  return json_build_object('id', v_id, 'status', v_status, 'code', v_verdict ->> 'code', 'reason', v_verdict ->> 'reason',
    'evidence', v_verdict -> 'evidence', 'since', v_verdict -> 'since', 'heals_at', v_verdict -> 'heals_at', 'heals', v_verdict -> 'heals',
    'action', v_verdict -> 'action', 'instead', v_verdict -> 'instead');
end $$;
grant execute on function app.why(text, text) to fanfold_api, fanfold_admin;
