-- Takes results out for repair, the one thing that may: what had completed or was skipped leaves a superseded attempt, what had
-- failed has its attempts already.
create or replace function app.put_results_back(
  stage app.stages, ordinals int8multirange,
  out completed bigint, out failed bigint, out skipped bigint, out superseded int8multirange)
language plpgsql
as $$
begin
  with gone as (
    delete from app.results r
     using unnest(ordinals) w
     where r.stage_id = stage.stage_id and r.ordinal >= lower(w) and r.ordinal < upper(w)
    returning r.ordinal, r.attempt, r.status, r.worker_id, r.duration_ms, r.error
  ),
  told as (
    insert into app.attempts (tenant_id, stage_id, ordinal, attempt, epoch, outcome, code, message, worker_id, duration_ms)
    select stage.tenant_id, stage.stage_id, g.ordinal, g.attempt, stage.epoch, 'superseded', g.status::text,
      coalesce('repaired: it had been ' || g.status || ' (' || (g.error ->> 'message') || ')', 'repaired: it had been ' || g.status),
      g.worker_id, g.duration_ms
      from gone g
     where g.status <> 'failed'
  )
  select count(*) filter (where g.status = 'completed'), count(*) filter (where g.status = 'failed'),
      count(*) filter (where g.status = 'skipped'),
      coalesce(range_agg(int8range(g.ordinal, g.ordinal + 1)) filter (where g.status = 'completed'), '{}')
    into completed, failed, skipped, superseded
    from gone g;
end $$;
