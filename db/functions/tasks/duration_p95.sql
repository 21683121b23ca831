-- What 95 of 100 completed tasks of a stage took at most, in milliseconds; null below 20 of them. Of a wide stage the 10,000 of the
-- highest ordinals speak for all: the caller of why waits for the answer.
create or replace function app.duration_p95(stage bigint)
returns integer
language plpgsql stable
as $$
begin
  return (
    select case when count(*) >= 20 then percentile_disc(0.95) within group (order by d.duration_ms) end
      from (
        select r.duration_ms from app.results r
         where r.stage_id = stage and r.status = 'completed' and r.duration_ms is not null
         order by r.ordinal desc
         limit 10000) d);
end $$;
