-- Moves a waiting lone task to another time, and to another priority if one is given.
create or replace function app.reschedule_task(
  task_id text, run_at timestamptz, priority integer default null, tenant text default null, reason text default null,
  dry_run boolean default false, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_found record := app.find_task(v_tenant, task_id);
  v_stage app.stages := v_found.stage;
  v_ordinal bigint := v_found.ordinal;
  v_ready app.ready;
begin
  -- However it was named.
  task_id := (v_found.stage).stage_id || '-' || v_found.ordinal;
  if v_stage.job_id is not null then
    raise exception 'task "%" belongs to a job', task_id using errcode = 'FF006', hint = 'only lone tasks are moved one by one';
  end if;
  if reschedule_task.run_at is null or not isfinite(reschedule_task.run_at) then
    raise exception 'run_at is missing' using errcode = 'FF002', hint = 'a time such as 2030-01-31T08:00:00Z';
  end if;
  if reschedule_task.priority not between -32768 and 32767 then
    raise exception 'priority is not from -32768 to 32767' using errcode = 'FF002';
  end if;
  if dry_run then
    select * into v_ready from app.ready r where r.stage_id = v_stage.stage_id and r.lo <= v_ordinal and r.hi > v_ordinal order by r.hi limit 1;
  else
    v_ready := app.take_out_of_ready(v_stage.stage_id, v_ordinal);
  end if;
  if v_ready.ready_id is null then
    raise exception 'task "%" is not waiting', task_id
      using errcode = 'FF006', hint = 'only a queued task can be moved; list them', detail = app.action('tasks.list');
  end if;
  if dry_run then
    return json_build_object('task_id', task_id, 'status', 'queued', 'run_at', reschedule_task.run_at,
      'priority', coalesce(reschedule_task.priority, v_ready.priority), 'dry_run', true, 'changed', false);
  end if;
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, attempt, crashes, throttles, task_bytes, turn)
  values (v_stage.stage_id, v_ordinal, v_ordinal + 1, v_tenant, v_ready.task_type, coalesce(reschedule_task.priority, v_ready.priority),
    reschedule_task.run_at, v_ready.attempt, v_ready.crashes, v_ready.throttles, v_ready.task_bytes,
    case when reschedule_task.run_at > now() then -1 else app.ring_turn(null, v_stage.stage_id) end);
  perform app.note(v_tenant, 'task.rescheduled', v_stage.job_id, v_stage.stage_id, reason,
    jsonb_build_object('task_id', task_id, 'run_at', reschedule_task.run_at), actor);
  perform app.wake(array[v_ready.task_type]);
  return json_build_object('task_id', task_id, 'status', 'queued', 'run_at', reschedule_task.run_at,
    'priority', coalesce(reschedule_task.priority, v_ready.priority), 'dry_run', false, 'changed', true);
end $$;
grant execute on function app.reschedule_task(text, timestamptz, integer, text, text, boolean, text) to fanfold_api, fanfold_admin;
