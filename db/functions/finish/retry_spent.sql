-- What a task has used of its patience so far: how often it was put back, and for how long it has been tried again, which is all
-- its waits and all its attempts after the first that failed. Time in the queue is nobody's fault and does not count. The engine's own
-- trouble (engine) has a purse of its own. A repair begins anew, and so does running a failed task again.
create or replace function app.retry_spent(
  stage bigint, task bigint, in_epoch integer, by_engine boolean, duration_ms integer, out times integer, out spent_s double precision)
language sql stable
as $$
  select count(*)::integer,
    case when count(*) = 0 then 0 else
      sum(extract(epoch from a.retry_at - a.ended_at))
      + (sum(coalesce(a.duration_ms, 0)) - (array_agg(coalesce(a.duration_ms, 0) order by a.attempt_id))[1] + coalesce(retry_spent.duration_ms, 0)) / 1000.0
    end::double precision
    from app.attempts a
   where a.stage_id = stage and a.ordinal = task and a.epoch = in_epoch and a.retry_at is not null
     and (a.category = 'engine') = by_engine and a.category <> 'throttled'
     and a.attempt_id > coalesce((
       select max(e.attempt_id) from app.attempts e
        where e.stage_id = stage and e.ordinal = task
          and (e.outcome = 'superseded' or (e.outcome = 'failed' and e.retry_at is null))), 0)
$$;
