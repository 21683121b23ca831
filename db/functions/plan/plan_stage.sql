-- Plans a stage whose plan is data, for the worker that holds its planning claim. Results that were spilled to storage must be
-- brought along: without them the reply is {needs: [{o, s}]}; call again with loaded: [{o, r}]. A condition that was put off is judged
-- first.
create or replace function app.plan_stage(worker uuid, claim bigint, loaded json default '[]')
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_stage app.stages;
  v_job app.jobs;
  v_previous app.stages;
  v_loaded jsonb;
  v_needs json;
  v_total bigint;
  v_met boolean := true;
begin
  select * into v_stage from app.stages where stage_id = app.planning_stage(worker, claim);
  select * into v_previous
    from app.stages p
   where p.tenant_id = v_stage.tenant_id and p.job_id = v_stage.job_id and p.number = v_stage.of_number;
  select coalesce(jsonb_object_agg(l.o, l.r), '{}') into v_loaded from json_to_recordset(loaded) as l(o bigint, r jsonb);
  if v_stage.put_off then
    select * into v_job from app.jobs j where j.tenant_id = v_stage.tenant_id and j.job_id = v_stage.job_id;
    v_met := app.judge_condition(v_stage, v_job);
  end if;
  if v_met and v_stage.parallelism = 'fan_out' then
    select json_agg(json_build_object('o', r.ordinal, 's', r.spill))
      into v_needs
      from app.results r
     where r.stage_id = v_previous.stage_id and r.status = 'completed' and r.spill is not null and not v_loaded ? r.ordinal::text;
    if v_needs is not null then
      return json_build_object('needs', v_needs);
    end if;
  end if;
  delete from app.claims where claim_id = plan_stage.claim;
  v_job := app.lock_planned_job(v_stage);
  if not v_met then
    perform app.close_stages(array[v_stage.stage_id], 'skipped', 'when');
    perform app.advance_jobs(array[v_job.tenant_id], array[v_job.job_id]);
    return json_build_object('total', 0);
  elsif v_stage.put_off and v_stage.gate is not null and v_stage.decision is null then
    perform app.ask_for_approval(v_stage, v_job);
    return json_build_object('total', 0);
  end if;
  if v_stage.total is null then
    delete from app.tasks t where t.stage_id = v_stage.stage_id;
  end if;
  delete from app.task_drafts d where d.stage_id = v_stage.stage_id;
  v_total := app.plan_by_data(v_stage, v_job, v_previous, v_loaded);
  perform app.note(v_stage.tenant_id, 'stage.planned', v_stage.job_id, v_stage.stage_id, null,
    jsonb_build_object('stage', v_stage.name, 'total', v_total));
  perform app.advance_jobs(array[v_job.tenant_id], array[v_job.job_id]);
  return json_build_object('total', v_total);
end $$;
grant execute on function app.plan_stage(uuid, bigint, json) to fanfold_worker, fanfold_admin;
