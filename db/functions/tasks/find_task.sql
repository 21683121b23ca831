-- The stage of a task that belongs to the tenant, by its id ('<stage>-<ordinal>') or by its place: '<job>/<stage>/<index>', with the stage's name or
-- number, as people know it. Anything else is "not found", never "not yours".
create or replace function app.find_task(tenant text, task_id text, out stage app.stages, out ordinal bigint)
language plpgsql stable
as $$
declare
  v_place text[] := regexp_match(task_id, '^([0-9a-f]{4,64})/([^/]{1,63})/(.{1,200})$');
  v_job text;
begin
  if task_id ~ '^\d{1,18}-\d{1,18}$' then
    select s.* into stage from app.stages s where s.stage_id = split_part(task_id, '-', 1)::bigint and s.tenant_id = tenant;
    ordinal := split_part(task_id, '-', 2)::bigint;
  elsif v_place is not null then
    v_job := (app.find_job(tenant, v_place[1])).job_id;
    select s.* into stage from app.stages s
     where s.tenant_id = tenant and s.job_id = v_job and (s.name = v_place[2] or s.number::text = v_place[2])
     order by s.name = v_place[2] desc
     limit 1;
    -- A task without a name of its own goes by its number.
    select t.ordinal into ordinal from app.tasks t where t.stage_id = stage.stage_id and t.index = v_place[3];
    if ordinal is null and v_place[3] ~ '^\d{1,18}$' then
      select t.ordinal into ordinal from app.tasks t where t.stage_id = stage.stage_id and t.ordinal = v_place[3]::bigint and t.index is null;
    end if;
  end if;
  if stage.stage_id is not null and exists (select from app.tasks t where t.stage_id = stage.stage_id and t.ordinal = find_task.ordinal) then
    return;
  end if;
  raise exception 'there is no task "%"', left(coalesce(task_id, 'null'), 80)
    using errcode = 'FF001', hint = 'a task is <stage>-<ordinal>, or <job>/<stage>/<index>; list them', detail = app.action('tasks.list');
end $$;
