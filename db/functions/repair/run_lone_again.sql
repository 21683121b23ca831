-- Queues an ended task that stands alone again; what became of it before stays in its attempts. Returns what the verb answers.
create or replace function app.run_lone_again(stage app.stages, task bigint, status text, reason text, dry_run boolean, actor text)
returns json
language plpgsql
as $$
declare
  v_id constant text := stage.stage_id || '-' || task;
  v_bytes integer;
begin
  if not dry_run then
    perform app.put_results_back(stage, int8multirange(int8range(task, task + 1)));
    select coalesce(octet_length(t.parameters::text), 0) into v_bytes
      from app.tasks t where t.stage_id = stage.stage_id and t.ordinal = task;
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, task_bytes, turn)
    values (stage.stage_id, task, task + 1, stage.tenant_id, stage.task_type, stage.priority, v_bytes,
      app.ring_turn(null, stage.stage_id));
    perform app.note(stage.tenant_id, 'task.retried', null, stage.stage_id, reason, jsonb_build_object('task_id', v_id), actor);
    perform app.wake(array[stage.task_type]);
  end if;
  return json_build_object('task_id', v_id, 'status', case when dry_run then run_lone_again.status else 'queued' end, 'again', 1,
    'dry_run', dry_run, 'changed', not dry_run);
end $$;
