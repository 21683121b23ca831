-- How many tasks of its tenant start before this one, as far as turns can be foreseen: all of a higher priority, those before it in its own
-- job, meanwhile as many of every other job, and then as many of small work as of the ring; see take_turns. It reads so many ranges and no more.
create or replace function app.turns_before(queued app.ready, ordinal bigint, types text[])
returns bigint
language plpgsql stable
as $$
declare
  c_ring constant bigint := 4503599627370496;
  c_ranges constant integer := 20000;
begin
  return (
    with due as (
      select r.*
        from app.ready r
       where r.task_type = any (types) and r.tenant_id = queued.tenant_id and r.turn >= 0 and r.run_at <= now() and r.priority >= queued.priority
       limit c_ranges
    ),
    -- Small work stands range by range, the rest job by job.
    entries as (
      select d.priority, d.turn, d.turn < c_ring as small, case when d.turn < c_ring then d.ready_id end as ready_id, sum(d.hi - d.lo) as tasks,
        coalesce(sum(d.hi - d.lo) filter (where (d.run_at, d.ready_id) < (queued.run_at, queued.ready_id)), 0) as older
        from due d
       group by 1, 2, 3, 4
    ),
    mine as (
      select queued.turn < c_ring as small, ordinal - queued.lo + coalesce((
          select e.older from entries e where e.priority = queued.priority and e.turn = queued.turn and not e.small), 0) as own
    ),
    alike as (
      -- The others of its kind each have had as many turns, and those before it one more.
      select m.own + coalesce(sum(least(e.tasks, m.own + (not m.small or (e.turn, e.ready_id) < (queued.turn, queued.ready_id))::integer)), 0) as tasks
        from mine m
        left join entries e on e.priority = queued.priority and e.small = m.small and (e.turn, e.ready_id) is distinct from (
          queued.turn, case when m.small then queued.ready_id end)
       group by m.own
    )
    select a.tasks + coalesce((select sum(e.tasks) from entries e where e.priority > queued.priority), 0)
        + least(a.tasks + 1, coalesce((select sum(e.tasks) from entries e, mine m where e.priority = queued.priority and e.small <> m.small), 0))
      from alike a);
end $$;
