-- One stage as the status shows it. Queued and processing are counted where tasks are, in ready and claims; the rate and what is
-- left at that rate are read from few results (see stage_rate).
create or replace function app.stage_status_of(stage app.stages)
returns json
language plpgsql stable
set enable_seqscan = off
set jit = off
as $$
begin
  return (
    select json_build_object(
      'stage_id', stage.stage_id, 'number', stage.number, 'name', stage.name, 'task_type', stage.task_type,
      'parallelism', stage.parallelism, 'importance', stage.importance, 'status', stage.status, 'skip_reason', stage.skip_reason,
      'total', stage.total, 'completed', coalesce(p.completed, 0), 'failed', coalesce(p.failed, 0), 'skipped', coalesce(p.skipped, 0),
      'cancelled', case when stage.closed_at is not null then coalesce(p.remaining, 0) else 0 end, 'epoch', stage.epoch,
      'description', stage.description, 'gate', stage.gate, 'decision', stage.decision,
      'processing', h.held, 'queued', q.queued, 'retrying', q.retrying,
      'after', stage.after, 'of', stage.of_number, 'when', stage.condition,
      'budget', case when stage.budget_count is not null or stage.budget_percent is not null then json_build_object(
        'count', stage.budget_count, 'percent', stage.budget_percent,
        'allowed', case when stage.total is not null then app.stage_allows(stage.total, stage.budget_count, stage.budget_percent) end) end,
      'max_parallel', stage.max_parallel, 'max_attempts', stage.max_attempts, 'retry', stage.retry, 'timeout_s', stage.timeout_s,
      'next_retry', case when q.retrying > 0 then app.next_retry(stage) end,
      'rate_per_s', round(v.rate::numeric, 3), 'eta_s', ceil(p.remaining / v.rate),
      'opened_at', stage.opened_at, 'closed_at', stage.closed_at,
      'error', coalesce(stage.error, (
        select r.error || jsonb_build_object('task_id', r.stage_id || '-' || r.ordinal)
          from app.results r
         where r.stage_id = stage.stage_id and r.status = 'failed'
         order by r.ordinal
         limit 1)))
    from (select coalesce(sum(app.held_count(k.held)), 0) as held from app.claims k where k.stage_id = stage.stage_id and not k.held @> -1::bigint) h
    cross join (
      select coalesce(sum(r.hi - r.lo), 0) as queued, coalesce(sum(r.hi - r.lo) filter (where r.attempt > 1 or r.throttles > 0), 0) as retrying
        from app.ready r
       where r.stage_id = stage.stage_id and r.lo >= 0) q
    cross join lateral (select app.stage_rate(stage) as rate offset 0) v
    left join app.stage_progress p on p.stage_id = stage.stage_id);
end $$;
