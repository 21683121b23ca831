-- How many more tasks of a stage with max_parallel may be held. The stage's row is locked while it is counted, with a lock that is
-- tried and never waited for: who does not get it leaves the stage to others.
create or replace function app.stage_allowance(stage app.stages, taken app.taken_range[])
returns bigint
language plpgsql
as $$
begin
  perform 1 from app.stages s where s.stage_id = stage.stage_id for no key update skip locked;
  if not found then
    return 0;
  end if;
  return stage.max_parallel
    - (select coalesce(sum(app.held_count(c.held)), 0) from app.claims c where c.stage_id = stage.stage_id)
    - (select coalesce(sum(t.hi - t.lo), 0) from unnest(taken) t where t.stage_id = stage.stage_id);
end $$;
