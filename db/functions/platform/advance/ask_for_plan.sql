-- What only code can tell is a lone task for a worker that has the recipe in code: its parameters, or whether it runs at all. The caller holds
-- the request's row.
create or replace function platform.ask_for_plan(request platform.requests, request_job platform.request_jobs)
returns void
language plpgsql
as $$
declare
  v_type constant text := 'platform.plan.' || request.data_type;
  v_stage constant bigint := app.standing_stage(request.tenant_id, v_type);
  v_ordinal constant bigint := nextval('app.lone_ordinals');
begin
  update platform.request_jobs j set phase = 'planning', opened_at = now(), plan_ordinal = v_ordinal
   where j.tenant_id = request_job.tenant_id and j.request_id = request_job.request_id and j.number = request_job.number;
  insert into app.tasks (stage_id, ordinal, tenant_id, parameters)
  values (v_stage, v_ordinal, request.tenant_id,
    jsonb_build_object('request_id', request.request_id, 'job', request_job.name, 'recipe_hash', request.recipe_hash));
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, task_bytes, turn)
  values (v_stage, v_ordinal, v_ordinal + 1, request.tenant_id, v_type, request.priority, 200, app.ring_turn(null, v_stage));
  perform app.wake(array[v_type]);
end $$;
