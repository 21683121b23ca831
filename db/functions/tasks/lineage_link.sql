-- The tasks [lo, hi) of a stage that another task took from or gives to: how many, what became of them, and the first dozen by name.
-- Counts come from the stage's ledger when they are all of it, and are left out when they would be many to count.
create or replace function app.lineage_link(stage app.stages, how text, lo bigint, hi bigint)
returns json
language plpgsql stable
as $$
declare
  c_shown constant integer := 12;
  c_counted constant integer := 10000;
  v_all boolean := lo = 0 and hi = coalesce(stage.total, 0);
  v_counts json;
begin
  if v_all then
    select json_build_object('completed', p.completed, 'failed', p.failed, 'skipped', p.skipped,
        case when stage.closed_at is null then 'open' else 'cancelled' end, p.remaining)
      into v_counts
      from app.stage_progress p
     where p.stage_id = stage.stage_id;
  elsif hi - lo <= c_counted then
    select json_build_object('completed', count(*) filter (where r.status = 'completed'), 'failed', count(*) filter (where r.status = 'failed'),
        'skipped', count(*) filter (where r.status = 'skipped'),
        case when stage.closed_at is null then 'open' else 'cancelled' end, hi - lo - count(*) filter (where r.status <> 'cancelled'))
      into v_counts
      from app.results r
     where r.stage_id = stage.stage_id and r.ordinal >= lo and r.ordinal < hi;
  end if;
  return json_build_object(
    'stage_id', stage.stage_id, 'stage', stage.name, 'number', stage.number, 'task_type', stage.task_type, 'stage_status', stage.status,
    'how', how, 'tasks', greatest(hi - lo, 0), 'counts', v_counts,
    'first', (
      select coalesce(json_agg(json_build_object('task_id', t.stage_id || '-' || t.ordinal, 'ordinal', t.ordinal, 'index', t.index, 'status', t.status,
          'attempt', t.attempt, 'duration_ms', t.duration_ms, 'finished_at', t.finished_at) order by t.ordinal), '[]')
        from generate_series(lo, least(hi, lo + c_shown) - 1) o
        cross join lateral (select * from app.task_states x where x.stage_id = stage.stage_id and x.ordinal = o) t));
end $$;
