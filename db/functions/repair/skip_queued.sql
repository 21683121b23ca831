-- Skips whatever of these ordinals of an open stage waits to run: ranges are cut around them. Waits for claimers at work on a range, so
-- it is called by transactions that hold no row yet. Returns what it skipped.
create or replace function app.skip_queued(stage app.stages, ordinals int8multirange, error jsonb)
returns int8multirange
language plpgsql
as $$
declare
  v_skipped int8multirange;
begin
  with mine as (
    select *
      from app.ready r
     where r.stage_id = stage.stage_id and r.hi > lower(ordinals) and r.lo < upper(ordinals)
       and int8multirange(int8range(r.lo, r.hi)) && ordinals
     order by r.ready_id
       for update
  ),
  gone as (
    delete from app.ready r using mine m where r.ready_id = m.ready_id
  ),
  kept as (
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, attempt, crashes, throttles, task_bytes, turn)
    select m.stage_id, lower(k), upper(k), m.tenant_id, m.task_type, m.priority, m.run_at, m.attempt, m.crashes, m.throttles, m.task_bytes, m.turn
      from mine m
      cross join lateral unnest(int8multirange(int8range(m.lo, m.hi)) - ordinals) k
  ),
  told as (
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, error)
    select m.stage_id, o, m.tenant_id, 'skipped', m.attempt, skip_queued.error
      from mine m
      cross join lateral unnest(int8multirange(int8range(m.lo, m.hi)) * ordinals) w
      cross join lateral generate_series(lower(w), upper(w) - 1) o
  )
  select coalesce(range_agg(int8multirange(int8range(m.lo, m.hi)) * ordinals), '{}') into v_skipped from mine m;
  return v_skipped;
end $$;
