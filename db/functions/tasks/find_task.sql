-- The stage of a task id ('<stage>-<ordinal>') that belongs to the tenant; anything else is "not found", never "not yours".
create or replace function app.find_task(tenant text, task_id text, out stage app.stages, out ordinal bigint)
language plpgsql stable
as $$
begin
  if task_id ~ '^\d{1,18}-\d{1,18}$' then
    select s.* into stage from app.stages s where s.stage_id = split_part(task_id, '-', 1)::bigint and s.tenant_id = tenant;
    ordinal := split_part(task_id, '-', 2)::bigint;
    if stage.stage_id is not null and exists (select from app.tasks t where t.stage_id = stage.stage_id and t.ordinal = find_task.ordinal) then
      return;
    end if;
  end if;
  raise exception 'there is no task "%"', left(coalesce(task_id, 'null'), 80)
    using errcode = 'FF001', hint = 'a task id is <stage>-<ordinal>; list them', detail = app.action('tasks.list');
end $$;
