-- The last event (or `later`: the first) whose number may be of this time, found by halving: numbers are given in the order of time, but
-- an event bears the time at which its transaction began. No transaction of ours lasts ten minutes, so nothing of the time lies beyond
-- the number this gives. It needs no index by time, which every event would have to pay for.
create or replace function app.event_of_time(at timestamptz, later boolean)
returns bigint
language plpgsql stable
as $$
declare
  v_at timestamptz := event_of_time.at + case when later then interval '10 minutes' else interval '-10 minutes' end;
  v_low bigint := 0;
  v_high bigint;
  v_middle bigint;
  v_event app.events;
begin
  select coalesce(max(e.event_id), 0) + 1 into v_high from app.events e;
  -- v_low is before that time or 0, v_high is not before it or behind the last.
  while v_high - v_low > 1 loop
    v_middle := (v_low + v_high) / 2;
    select * into v_event from app.events e where e.event_id >= v_middle order by e.event_id limit 1;
    if v_event.event_id is null or v_event.event_id >= v_high or v_event.at >= v_at then
      v_high := v_middle;
    else
      v_low := v_event.event_id;
    end if;
  end loop;
  return case when later then v_high else v_low end;
end $$;
