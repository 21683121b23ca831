-- A paused task type of the tenant, when tasks of it wait here; else null. Plannings have no type that could be paused.
create or replace function app.why_type_paused(stage app.stages)
returns json
language plpgsql stable
as $$
declare
  v_pause app.paused_types;
  v_queued bigint;
begin
  select * into v_pause from app.paused_types z where z.tenant_id = stage.tenant_id and z.task_type = stage.task_type;
  select sum(r.hi - r.lo) into v_queued from app.ready r where r.stage_id = stage.stage_id and r.lo >= 0;
  if v_pause.task_type is null or v_queued is null then
    return null;
  end if;
  return app.verdict('QUEUE_PAUSED', 'tasks of type ' || v_pause.task_type || ' are paused by ' || v_pause.paused_by || coalesce(': ' || v_pause.reason, ''),
    json_build_object('stage', case when stage.job_id is not null then stage.name end, 'task_type', v_pause.task_type,
      'paused_by', v_pause.paused_by, 'pause_reason', v_pause.reason, 'queued', v_queued),
    v_pause.paused_at, null, 'nothing of this type is claimed until it is continued', app.action('continue_type', task_type => v_pause.task_type));
end $$;
