-- Not due yet: because it was asked to wait, or because an attempt failed and the next waits its time.
create or replace function app.why_later(stage app.stages, queued app.ready, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_last app.attempts;
  v_task app.tasks;
begin
  select * into v_task from app.tasks t where t.stage_id = stage.stage_id and t.ordinal = why_later.ordinal;
  select * into v_last from app.attempts a
   where a.stage_id = stage.stage_id and a.ordinal = why_later.ordinal and (a.outcome in ('failed', 'lost') or a.retry_at is not null)
   order by a.attempt_id desc limit 1;
  -- A retry is due exactly when its failed attempt said; anything else is somebody's wish.
  if v_last.retry_at is distinct from queued.run_at then
    return app.verdict('SCHEDULED_LATER', format('%s is not due before %s', app.task_name(stage, ordinal), app.utc_text(queued.run_at)),
      json_build_object('run_at', queued.run_at, 'attempt', queued.attempt, 'priority', queued.priority), v_task.created_at, queued.run_at,
      'it may run at that time', app.run_now(stage, ordinal));
  end if;
  return app.verdict('BACKOFF', format('%s is tried again in %s s, at %s, attempt %s%s%s%s', app.task_name(stage, ordinal),
      ceil(extract(epoch from queued.run_at - now())), app.utc_text(queued.run_at), queued.attempt, coalesce(' of ' || v_last.max_attempts, ''),
      coalesce('; if it goes on failing it is given up at ' || app.utc_text(v_last.gives_up_at), ''), coalesce('; the last error: ' || v_last.message, '')),
    json_build_object('run_at', queued.run_at, 'attempt', queued.attempt, 'of', v_last.max_attempts, 'gives_up_at', v_last.gives_up_at, 'throttles', nullif(queued.throttles, 0),
      'crashes', nullif(queued.crashes, 0), 'last_error', case when v_last.attempt_id is not null then json_build_object(
        'category', v_last.category, 'code', v_last.code, 'message', v_last.message, 'ended_at', v_last.ended_at) end),
    v_last.ended_at, queued.run_at, 'it is tried again at that time', app.run_now(stage, ordinal));
end $$;
