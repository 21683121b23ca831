-- The stages a job of this blueprint would have, and of each how many tasks, as far as its plan and the parameters tell without
-- running anything: {…, tasks: null where only the run will tell, why, starts: it opens with the job}.
create or replace function app.foreseen_stages(tenant text, blueprint jsonb, parameters jsonb)
returns jsonb
language plpgsql stable
as $$
declare
  v_job app.jobs;
  v_stage app.stages;
  v_previous app.stages;
  v_definition record;
  v_totals bigint[] := '{}'::bigint[];
  v_total bigint;
  v_why text;
  v_first boolean;
  v_runs boolean;
  v_told jsonb := '[]'::jsonb;
begin
  v_job.tenant_id := tenant;
  v_job.parameters := foreseen_stages.parameters;
  for v_definition in select * from app.stage_definitions(blueprint) d order by d.number loop
    v_stage := null;
    v_stage.tenant_id := tenant;
    v_stage.number := v_definition.number;
    v_stage.name := v_definition.name;
    v_stage.parallelism := v_definition.parallelism;
    v_stage.batch := v_definition.batch;
    v_stage.condition := v_definition.condition;
    v_stage.plan := v_definition.plan;
    v_previous := null;
    v_previous.total := v_totals[v_definition.of_number];
    v_first := v_definition.after = '{}';
    v_runs := true;
    v_total := null;
    v_why := null;
    begin
      if v_first and v_definition.condition ? 'path' then
        v_runs := app.stage_condition(v_stage, v_job);
      end if;
      if not v_runs then
        v_total := 0;
        v_why := 'its condition is not met: it is skipped';
      elsif v_definition.plan ? 'function' then
        v_why := 'code plans it when it opens';
      elsif v_definition.parallelism = 'fan_out' and v_definition.plan ? 'each' then
        v_why := 'as many as the results before it name';
      elsif v_definition.parallelism in ('match_previous', 'fan_in') and v_previous.total is null
        and not (v_definition.parallelism = 'fan_in' and v_definition.batch is null) then
        v_why := 'it depends on how many tasks the stage before it has';
      else
        v_total := app.plan_size(v_stage, v_job, v_previous);
      end if;
    exception
      -- What a template or a count names is not as the plan needs it: planning would fail in the same way.
      when sqlstate 'FF002' or data_exception then
        v_why := 'planning would fail: ' || sqlerrm;
    end;
    v_totals[v_definition.number] := v_total;
    v_told := v_told || jsonb_build_object(
      'number', v_definition.number, 'name', v_definition.name, 'task', v_definition.task_type,
      'parallelism', v_definition.parallelism, 'importance', v_definition.importance, 'after', to_jsonb(v_definition.after),
      'gate', v_definition.gate ->> 'message', 'conditional', v_definition.condition is not null and v_runs and not (v_first and v_definition.condition ? 'path'),
      'tasks', v_total, 'why', v_why, 'starts', v_first and v_runs and v_definition.gate is null,
      'counted', coalesce(v_definition.plan ? 'count', false),
      'served', exists (select from app.serving_workers(tenant, v_definition.task_type)));
  end loop;
  return v_told;
end $$;
