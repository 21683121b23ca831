-- Tasks of an open stage that were finished per second over the last five minutes, by the 2,000 results of the highest ordinals:
-- those that were claimed last. Null when fewer than five were, when it is paused, and when it has ended. The status asks for it.
create or replace function app.stage_rate(stage app.stages)
returns double precision
language plpgsql stable
-- A stage that has just been filled has no statistics yet: a plan that sorts all of it must not be chosen.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
begin
  if stage.status <> 'processing' or stage.paused then
    return null;
  end if;
  return (
    select case when count(*) >= 5 then count(*) / greatest(extract(epoch from now() - min(l.finished_at)), 1) end
      from (select r.finished_at from app.results r where r.stage_id = stage.stage_id order by r.ordinal desc limit 2000) l
     where l.finished_at > now() - interval '5 minutes');
end $$;
