-- Planning is a claim like any other: ordinal -1 of the stage, under a task type that planners listen to.
-- `judged_there`: so is its condition.
create or replace function app.ask_for_plan(stage app.stages, planner_type text, judged_there boolean default false)
returns void
language plpgsql
as $$
begin
  update app.stages set status = 'planning', opened_at = now(), put_off = judged_there where stage_id = stage.stage_id;
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, turn)
  values (stage.stage_id, -1, 0, stage.tenant_id, planner_type, stage.priority, app.turn_of_stage(stage, 1));
  perform app.wake(array[planner_type]);
end $$;
