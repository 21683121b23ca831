-- Inserts the tasks of a stage whose plan is data and starts it; a stage that ran before gets the plan merged into what it has.
-- `loaded` holds results that had been spilled, by ordinal.
create or replace function app.plan_by_data(stage app.stages, job app.jobs, previous app.stages, loaded jsonb)
returns bigint
language plpgsql
as $$
declare
  v_plan jsonb := stage.plan;
  v_total bigint;
begin
  if stage.parallelism = 'match_previous' then
    return app.plan_matching(stage, previous);
  elsif stage.parallelism = 'fan_in' then
    v_total := app.plan_size(stage, job, previous);
  elsif v_plan ? 'count' then
    v_total := app.plan_count(stage, job);
  elsif (v_plan ? 'each') is not true then
    -- "is not true", because a stage without any plan is one task too.
    v_total := 1;
  end if;
  -- Before they are made: ten million rows are no way to find out that there are too many.
  perform app.assert_fan_out(stage, v_total);

  if stage.total is not null then
    insert into app.task_drafts (stage_id, ordinal, tenant_id, index, parent, parameters, metadata)
    select stage.stage_id, p.ordinal, stage.tenant_id,
        case when length(p.index) not between 1 and 200 then app.refused_index(p.index) else p.index end, p.parent, p.parameters, p.metadata
      from app.planned_by_data(stage, job, previous, loaded, v_total) p;
    get diagnostics v_total = row_count;
    perform app.assert_fan_out(stage, v_total);
    return app.merge_plan(stage, job);
  elsif v_total is not null and not (coalesce(v_plan, '{}') ?| array['index', 'parameters', 'metadata', 'parent']) then
    perform app.start_stages(array[stage.stage_id], v_total);
  else
    insert into app.tasks (stage_id, ordinal, tenant_id, index, parent, parameters, metadata)
    select stage.stage_id, p.ordinal, stage.tenant_id,
        case when length(p.index) not between 1 and 200 then app.refused_index(p.index) else p.index end, p.parent, p.parameters, p.metadata
      from app.planned_by_data(stage, job, previous, loaded, v_total) p;
    get diagnostics v_total = row_count;
    perform app.start_stages(array[stage.stage_id], v_total, int8multirange(int8range(0, v_total)), 0, app.largest_parameters(stage));
  end if;
  return v_total;
end $$;
