-- Approves or rejects a stage that waits for a person, with who and why. A rejected stage fails, and its importance says what
-- that means for the job. Saying the same twice changes nothing; saying otherwise afterwards is refused.
create or replace function app.decide_gate(
  job_id text, stage text, approved boolean, reason text default null, dry_run boolean default false,
  tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), decide_gate.job_id);
  v_stage app.stages;
  v_gates text[];
  v_by text := coalesce(left(actor, 200), session_user);
begin
  if approved is null then
    raise exception 'approve or reject' using errcode = 'FF002', hint = 'approved is true or false';
  elsif not approved and coalesce(btrim(reason), '') = '' then
    raise exception 'a stage is rejected for a reason' using errcode = 'FF002', hint = 'say why: --reason "…"';
  end if;
  perform app.lock_job_for_verbs(v_job);
  select * into v_job from app.jobs j where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id for update;
  if stage is null then
    v_gates := array(
      select s.name from app.stages s
       where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.status = 'waiting_approval' order by s.number);
    if v_gates = '{}' then
      -- One that was decided: saying the same again is fine.
      v_gates := array(
        select s.name from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.decision is not null);
    end if;
    if cardinality(v_gates) <> 1 then
      raise exception '% of job % waits for approval', case when v_gates = '{}' then 'no stage' else 'more than one stage' end, left(v_job.job_id, 12)
        using errcode = 'FF006', hint = coalesce('name one of ' || array_to_string(nullif(v_gates, '{}'), ', '), 'see its stages'),
          detail = case when v_gates = '{}' then app.action('jobs.status', job_id => v_job.job_id)::text else '' end;
    end if;
    stage := v_gates[1];
  end if;
  v_stage := app.find_stage(v_job, stage);
  if v_stage.status <> 'waiting_approval' then
    if (v_stage.decision ->> 'approved')::boolean = approved then
      return json_build_object('job_id', v_job.job_id, 'stage', v_stage.name, 'decision', v_stage.decision, 'dry_run', coalesce(dry_run, false), 'changed', false);
    end if;
    raise exception 'stage "%" is %, and waits for no approval%', v_stage.name, v_stage.status,
        coalesce(format(': %s %s it', v_stage.decision ->> 'by', case when (v_stage.decision ->> 'approved')::boolean then 'approved' else 'rejected' end), '')
      using errcode = 'FF006', hint = 'see its stages', detail = app.action('jobs.status', job_id => v_job.job_id);
  end if;
  if dry_run is not true then
    update app.stages s
       set decision = jsonb_build_object('approved', approved, 'by', v_by, 'why', left(reason, 1000), 'at', now()),
           status = case when approved then 'waiting' else s.status end,
           error = case when not approved then jsonb_build_object(
             'category', 'permanent', 'code', 'rejected', 'message', v_by || ' rejected it: ' || left(reason, 1000)) end
     where s.stage_id = v_stage.stage_id
    returning * into v_stage;
    perform app.note(v_job.tenant_id, case when approved then 'stage.approved' else 'stage.rejected' end, v_job.job_id, v_stage.stage_id,
      reason, jsonb_build_object('stage', v_stage.name), actor);
    if not approved then
      perform app.close_stages(array[v_stage.stage_id], 'failed');
    end if;
    perform app.start_clock(v_job);
    perform app.advance_jobs(array[v_job.tenant_id], array[v_job.job_id]);
    select * into v_stage from app.stages s where s.stage_id = v_stage.stage_id;
  end if;
  return json_build_object('job_id', v_job.job_id, 'stage', v_stage.name, 'status', v_stage.status, 'decision', v_stage.decision,
    'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true);
end $$;
grant execute on function app.decide_gate(text, text, boolean, text, boolean, text, text) to fanfold_api, fanfold_admin;
