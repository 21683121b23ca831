-- What waits of a type: counted in its ranges, where they are not too many, else as it was at the last look. `stage_id` and `ordinal` are
-- of the task that is due the longest, as far as was read.
create or replace function app.queue_depth(
  tenant text, type text,
  out due bigint, out later bigint, out retrying bigint, out oldest_at timestamptz, out stage_id bigint, out ordinal bigint, out counted_at timestamptz)
language plpgsql stable
as $$
declare
  c_ranges constant integer := 20000;
  v_ranges bigint;
  v_last record;
begin
  select coalesce(sum(r.hi - r.lo) filter (where r.run_at <= now()), 0), coalesce(sum(r.hi - r.lo) filter (where r.run_at > now()), 0),
      coalesce(sum(r.hi - r.lo) filter (where r.attempt > 1 or r.crashes > 0 or r.throttles > 0), 0),
      min(r.run_at) filter (where r.run_at <= now()), count(*)
    into due, later, retrying, oldest_at, v_ranges
    from (
      select * from app.ready q
       where q.task_type = type and q.tenant_id = tenant
       order by q.priority desc, q.turn, q.run_at, q.ready_id
       limit c_ranges + 1
    ) r;
  counted_at := now();
  if oldest_at is not null then
    select q.stage_id, q.lo into stage_id, ordinal
      from (
        select * from app.ready a
         where a.task_type = type and a.tenant_id = tenant
         order by a.priority desc, a.turn, a.run_at, a.ready_id
         limit c_ranges + 1
      ) q
     where q.run_at = oldest_at
     limit 1;
  end if;
  if v_ranges > c_ranges then
    select m.due, m.later, s.sampled_at into v_last
      from app.rate_samples s
      join app.rate_minutes m on m.minute = s.minute and m.tenant_id = tenant and m.task_type = type
     order by s.minute desc
     limit 1;
    -- Nobody has looked yet: it is at least what was read.
    if v_last.due + v_last.later > due + later then
      due := v_last.due;
      later := v_last.later;
      counted_at := v_last.sampled_at;
    end if;
  end if;
end $$;
