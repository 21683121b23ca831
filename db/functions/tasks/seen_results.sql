-- Results of a stage for readers that look at all of them at once: every one, or of a stage wider than `most` every n-th ordinal, read by key.
create or replace function app.seen_results(stage app.stages, most integer)
returns table (ordinal bigint, status app.task_status, attempt smallint, started_at timestamptz, finished_at timestamptz, duration_ms integer)
language plpgsql stable
as $$
declare
  v_step bigint := (coalesce(stage.total, 0) + most - 1) / most;
begin
  if v_step <= 1 then
    return query
      select r.ordinal, r.status, r.attempt, r.finished_at - make_interval(secs => coalesce(r.duration_ms, 0) / 1000.0), r.finished_at, r.duration_ms
        from app.results r
       where r.stage_id = stage.stage_id;
  else
    return query
      select r.ordinal, r.status, r.attempt, r.finished_at - make_interval(secs => coalesce(r.duration_ms, 0) / 1000.0), r.finished_at, r.duration_ms
        from generate_series(0, stage.total - 1, v_step) o
        cross join lateral (select * from app.results x where x.stage_id = stage.stage_id and x.ordinal = o offset 0) r;
  end if;
end $$;
