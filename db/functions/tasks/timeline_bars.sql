-- Tasks of a stage as bars of a timeline: since when each could run, every run it had, and how it stands. Times are milliseconds after
-- `origin`; `from` null: when that run began is not known.
create or replace function app.timeline_bars(stage app.stages, ordinals bigint[], origin timestamptz)
returns json
language plpgsql stable
as $$
declare
  c_runs constant integer := 20;
begin
  return (
    with held as materialized (
      select o as ordinal, k.attempt, k.worker_id, k.claimed_at
        from app.claims k
        cross join lateral unnest(k.held) h
        cross join lateral generate_series(greatest(lower(h), 0), upper(h) - 1) o
       where stage.closed_at is null and k.stage_id = stage.stage_id and o = any (ordinals)
    ),
    begun as materialized (
      select b.ordinal, b.started_at from app.running_tasks(stage) b where stage.closed_at is null and b.ordinal >= 0
    )
    select coalesce(json_agg(json_build_object(
        'ordinal', t.ordinal, 'index', coalesce(t.index, t.ordinal::text),
        'status', case when r.status is not null then r.status::text when h.ordinal is not null then 'processing' when q.ready_id is not null then 'queued' else 'cancelled' end,
        'attempt', coalesce(r.attempt, h.attempt, q.attempt),
        'ready', app.ms_after(origin, greatest(t.created_at, stage.opened_at)),
        'run_at', app.ms_after(origin, q.run_at),
        'runs', (
          select coalesce(json_agg(json_build_object('from', x.began, 'to', x.ended, 'outcome', x.outcome, 'attempt', x.attempt, 'epoch', x.epoch,
              'worker_id', x.worker_id, 'retry_at', x.retry_at, 'code', x.code) order by x.ended nulls last), '[]')
            from (
              (select app.ms_after(origin, a.ended_at - make_interval(secs => a.duration_ms / 1000.0)) as began, app.ms_after(origin, a.ended_at) as ended,
                  a.outcome, a.attempt, a.epoch, a.worker_id, app.ms_after(origin, a.retry_at) as retry_at, a.code
                 from app.attempts a
                where a.stage_id = stage.stage_id and a.ordinal = t.ordinal
                  -- When one ran that was repaired away is not known; and the last failure, of the same moment, is told by the result.
                  and a.outcome <> 'superseded' and a.ended_at is distinct from case when r.status = 'failed' then r.finished_at end
                order by a.attempt_id desc
                limit c_runs)
              union all
              select app.ms_after(origin, r.finished_at - make_interval(secs => r.duration_ms / 1000.0)), app.ms_after(origin, r.finished_at), r.status::text,
                r.attempt, stage.epoch, r.worker_id, null, r.error ->> 'code'
               where r.ordinal is not null
              union all
              select app.ms_after(origin, coalesce(b.started_at, h.claimed_at)), null, 'processing', h.attempt, stage.epoch, h.worker_id, null, null
               where h.ordinal is not null) x)) order by t.ordinal), '[]')
      from unnest(ordinals) o
      cross join lateral (select * from app.tasks k where k.stage_id = stage.stage_id and k.ordinal = o offset 0) t
      left join lateral (select * from app.results x where x.stage_id = stage.stage_id and x.ordinal = o offset 0) r on true
      left join held h on h.ordinal = o and r.ordinal is null
      left join lateral (
        select w.ready_id, w.lo, w.attempt, w.run_at from app.ready w where w.stage_id = stage.stage_id and w.hi > o order by w.hi limit 1
      ) q on r.ordinal is null and h.ordinal is null and q.lo <= o
      left join begun b on b.ordinal = o);
end $$;
