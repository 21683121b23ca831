-- The failed results of a stage, by their index; of more than `most` the first half and the last. Null: all of them.
create or replace function app.failures_of(stage bigint, most integer)
returns table (ordinal bigint, finished_at timestamptz, error jsonb)
language plpgsql stable
as $$
begin
  if most is null or not exists (
      select from app.stage_progress p where p.stage_id = stage and p.failed > most) then
    return query select r.ordinal, r.finished_at, r.error from app.results r where r.stage_id = stage and r.status = 'failed';
  else
    return query
      (select r.ordinal, r.finished_at, r.error from app.results r
        where r.stage_id = stage and r.status = 'failed' order by r.ordinal limit most / 2)
      union all
      (select r.ordinal, r.finished_at, r.error from app.results r
        where r.stage_id = stage and r.status = 'failed' order by r.ordinal desc limit most / 2);
  end if;
end $$;
