-- Ordinals of a stage behind `after` that may have the status, in order, at most so many: read where tasks of that status are, and
-- only for the others from the list of all.
create or replace function app.task_candidates(stage bigint, status text, after bigint, most integer)
returns setof bigint
language plpgsql stable
as $$
begin
  if status = 'failed' then
    return query
      select r.ordinal from app.results r
       where r.stage_id = stage and r.status = 'failed' and r.ordinal > after order by r.ordinal limit most;
  elsif status = 'processing' then
    return query
      select o
        from app.claims k
        cross join lateral unnest(k.held) h
        cross join lateral generate_series(greatest(lower(h), after + 1, 0), upper(h) - 1) o
       where k.stage_id = stage
       order by o
       limit most;
  elsif status = 'queued' then
    return query
      select o
        from (select r.lo, r.hi from app.ready r where r.stage_id = stage and r.hi > greatest(after + 1, 0) order by r.hi limit most) w
        cross join lateral generate_series(greatest(w.lo, after + 1, 0), least(w.hi, greatest(w.lo, after + 1, 0) + most) - 1) o
       order by o
       limit most;
  else
    return query
      select t.ordinal from app.tasks t where t.stage_id = stage and t.ordinal > after order by t.ordinal limit most;
  end if;
end $$;
