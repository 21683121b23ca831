-- One task with its parameters, result, the story of its attempts and the last hundred lines it logged.
create or replace function app.get_task(task_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_found record := app.find_task(v_tenant, task_id);
  v_stage app.stages := v_found.stage;
begin
  return (
    select json_build_object(
      'task_id', task_id, 'job_id', t.job_id, 'stage', t.stage, 'task_type', t.task_type, 'ordinal', t.ordinal, 'index', t.index,
      'status', t.status, 'attempt', t.attempt, 'priority', t.priority, 'run_at', t.run_at, 'worker_id', t.worker_id,
      'created_at', t.created_at, 'finished_at', t.finished_at, 'duration_ms', t.duration_ms, 'error', t.error,
      'parameters', k.parameters, 'metadata', k.metadata, 'result', r.result, 'spill', r.spill, 'next_stage_params', r.next_stage_params,
      'deliverables', r.deliverables,
      'logs', (
        select coalesce(json_agg(json_build_object('at', l.at, 'attempt', l.attempt, 'level', l.level, 'message', l.message, 'data', l.data)
            order by l.log_id), '[]')
          from (
            select * from app.task_logs g where g.stage_id = t.stage_id and g.ordinal = t.ordinal order by g.log_id desc limit 100) l),
      'attempts', (
        select coalesce(json_agg(json_build_object('attempt', a.attempt, 'epoch', a.epoch, 'outcome', a.outcome, 'signature', a.signature, 'detail', a.detail,
            'duration_ms', a.duration_ms, 'category', a.category, 'code', a.code,
            'message', a.message, 'worker_id', a.worker_id, 'ended_at', a.ended_at, 'retry_at', a.retry_at) order by a.attempt_id), '[]')
          from app.attempts a
         where a.stage_id = t.stage_id and a.ordinal = t.ordinal))
      from app.task_states t
      join app.tasks k on k.stage_id = t.stage_id and k.ordinal = t.ordinal
      left join app.results r on r.stage_id = t.stage_id and r.ordinal = t.ordinal
     where t.stage_id = v_stage.stage_id and t.ordinal = v_found.ordinal);
end $$;
grant execute on function app.get_task(text, text) to fanfold_api, fanfold_admin;
