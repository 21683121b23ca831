-- How a sentence names a task, or the planning of a stage (ordinal -1).
create or replace function app.task_name(stage app.stages, ordinal bigint)
returns text
language sql immutable
as $$
  select case when ordinal < 0 then 'the planning of stage "' || stage.name || '"' else 'task ' || stage.stage_id || '-' || ordinal end
$$;
