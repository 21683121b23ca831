-- Results of a task that came from a worker which no longer held it, and were refused; null when there were none.
create or replace function app.late_results(stage bigint, task_ordinal bigint)
returns json
language plpgsql stable
as $$
begin
  return (
    select json_agg(json_build_object('attempt', a.attempt, 'worker_id', a.worker_id, 'ended_at', a.ended_at) order by a.attempt_id)
      from app.attempts a
     where a.stage_id = stage and a.ordinal = task_ordinal and a.outcome = 'refused');
end $$;
