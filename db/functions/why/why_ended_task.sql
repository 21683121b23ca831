-- What a task's result says, with the story of its attempts. A result that came late and was refused is only told as evidence:
-- the attempt that owns the task speaks for it.
create or replace function app.why_ended_task(stage app.stages, result app.results, job app.jobs)
returns json
language plpgsql stable
as $$
declare
  v_id text := result.stage_id || '-' || result.ordinal;
  v_attempts record;
  v_last app.attempts;
  v_code text;
  v_open boolean := job.job_id is not null and job.finished_at is null;
begin
  select json_agg(json_build_object('attempt', a.attempt, 'outcome', a.outcome, 'worker_id', a.worker_id, 'ended_at', a.ended_at,
      'code', a.code, 'message', a.message, 'detail', a.detail - 'stack' - 'name') order by a.attempt_id) filter (where a.category = 'crash') as crashes,
    count(*) filter (where a.category = 'crash' and a.outcome <> 'lost') as crashed, count(*) filter (where a.outcome = 'lost') as lost
    into v_attempts
    from app.attempts a
   where a.stage_id = result.stage_id and a.ordinal = result.ordinal;
  select * into v_last from app.attempts a
   where a.stage_id = result.stage_id and a.ordinal = result.ordinal and a.outcome = 'failed' order by a.attempt_id desc limit 1;
  if result.status <> 'failed' then
    return app.verdict(upper(result.status::text), 'task ' || v_id || ' is ' || result.status || case when result.status = 'completed' then '; nothing blocks it'
        else coalesce(' by ' || (result.error ->> 'by'), '') || coalesce(': ' || (result.error ->> 'message'), '') end,
      json_build_object('attempt', result.attempt, 'worker_id', result.worker_id, 'duration_ms', result.duration_ms,
        'by', result.error ->> 'by', 'message', result.error ->> 'message', 'late_results', app.late_results(result.stage_id, result.ordinal)),
      result.finished_at, null, null,
      case when result.status in ('skipped', 'cancelled') and not v_open then app.action('tasks.retry', task_id => v_id) end);
  end if;
  v_code := case
    when (result.error ->> 'quarantined')::boolean then 'QUARANTINED_POISON'
    when result.error ->> 'category' = 'contract' and result.error ->> 'code' = 'bad_result' then 'RESULT_UNSTORABLE'
    when result.error ->> 'code' = 'too_large' then 'PAYLOAD_TOO_LARGE'
    else 'FAILED'
  end;
  return app.verdict(v_code, case v_code
      when 'QUARANTINED_POISON' then format('task %s is quarantined: attempts that ended in a crash: %s, that were cut off because no heartbeat of their worker came: %s',
        v_id, v_attempts.crashed, v_attempts.lost)
      when 'RESULT_UNSTORABLE' then format('the result of task %s cannot be stored', v_id)
      when 'PAYLOAD_TOO_LARGE' then format('task %s carries more than may be stored', v_id)
      else format('task %s failed at attempt %s%s', v_id, result.attempt, coalesce(' of ' || v_last.max_attempts, ''))
    end || coalesce(': ' || (result.error ->> 'message'), ''),
    json_build_object('attempt', result.attempt, 'of', v_last.max_attempts, 'error', result.error, 'crashes', v_attempts.crashes,
      'problems', case when v_code <> 'QUARANTINED_POISON' then v_last.detail -> 'problems' end,
      'late_results', app.late_results(result.stage_id, result.ordinal)),
    result.finished_at, null,
    case
      when v_open then 'it does not go on by itself; it can be run again when its job has ended'
      when v_code = 'QUARANTINED_POISON' then 'it does not go on by itself; if it cannot be run, skip it'
      else 'it does not go on by itself'
    end,
    case when not v_open then app.action('tasks.retry', task_id => v_id) end,
    case when not v_open and v_code = 'QUARANTINED_POISON' then app.action('tasks.skip', task_id => v_id, reason => '…') end);
end $$;
