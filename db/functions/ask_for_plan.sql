-- Planning is a claim like any other: ordinal -1 of the stage, under a task type that planners listen to.
create or replace function app.ask_for_plan(stage app.stages, planner_type text)
returns void
language plpgsql
as $$
begin
  update app.stages set status = 'planning', opened_at = now() where stage_id = stage.stage_id;
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority)
  values (stage.stage_id, -1, 0, stage.tenant_id, planner_type, stage.priority);
  perform app.wake(array[planner_type]);
end $$;
