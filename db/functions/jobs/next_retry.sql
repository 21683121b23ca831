-- Returns how many tasks of a stage wait for another attempt, and the one that is due first: which attempt, when, after
-- what error, and when it is given up if it goes on failing. Null when none waits.
create or replace function app.next_retry(stage app.stages)
returns json
language plpgsql stable
set enable_seqscan = off
as $$
declare
  v_row app.ready;
  v_last app.attempts;
begin
  select * into v_row from app.ready r
   where r.tenant_id = stage.tenant_id and r.stage_id = stage.stage_id and (r.attempt > 1 or r.crashes > 0 or r.throttles > 0) and r.run_at > now()
   order by r.run_at, r.ready_id
   limit 1;
  if not found then
    return null;
  end if;
  select * into v_last from app.attempts a
   where a.stage_id = v_row.stage_id and a.ordinal = v_row.lo and a.retry_at is not null
   order by a.attempt_id desc limit 1;
  return json_build_object('task_id', v_row.stage_id || '-' || v_row.lo, 'attempt', v_row.attempt, 'max_attempts', v_last.max_attempts,
    'run_at', v_row.run_at, 'gives_up_at', v_last.gives_up_at,
    'error', case when v_last.attempt_id is not null then
      json_build_object('category', v_last.category, 'code', v_last.code, 'message', v_last.message, 'signature', v_last.signature) end);
end $$;
