-- What was said about tries of this task, each word by the first of these that says it: the task itself (enqueue), its stage (where the submit
-- came before the blueprint already), its handler or worker (retry).
create or replace function app.retry_said(retry jsonb, stage app.stages, task app.tasks)
returns jsonb
language plpgsql stable
as $$
begin
  if retry is not null and exists (select from app.retry_problems(retry)) then
    -- A worker may say anything: what is no setting is not taken for one.
    retry := null;
  end if;
  return jsonb_strip_nulls(coalesce(nullif(retry, 'null'), '{}')
    || jsonb_strip_nulls(jsonb_build_object('attempts', stage.max_attempts)) || coalesce(stage.retry, '{}')
    || jsonb_strip_nulls(jsonb_build_object('attempts', task.max_attempts)) || coalesce(task.retry, '{}'));
end $$;
