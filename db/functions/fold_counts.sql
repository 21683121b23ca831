-- Adds what workers that have ended had counted to the total, and many small tallies to few. Sums stay what they were.
create or replace function app.fold_counts()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_total constant uuid := uuid '00000000-0000-0000-0000-000000000000';
  v_workers integer;
  v_tallies integer;
begin
  -- One at a time: two would wait for each other's rows.
  if not pg_try_advisory_xact_lock(hashtextextended('fold_counts', 5)) then
    return json_build_object('workers', 0, 'tallies', 0);
  end if;
  with gone as (
    delete from app.work_counts c
     where c.worker_id <> c_total
       and not exists (select from app.workers w where w.worker_id = c.worker_id and w.status = 'live')
    returning c.worker_id, c.task_type, c.counts
  ),
  added as (
    insert into app.work_counts as t (worker_id, task_type, counts)
    select c_total, s.task_type, array_agg(s.amount order by s.position)
      from (
        select g.task_type, n.position, sum(n.amount) as amount
          from gone g
          cross join lateral unnest(g.counts) with ordinality as n(amount, position)
         group by 1, 2
      ) s
     group by s.task_type
     order by s.task_type
    on conflict (worker_id, task_type) do update
      set counts = array(
        select coalesce(n.old, 0) + coalesce(n.new, 0)
          from unnest(t.counts, excluded.counts) with ordinality as n(old, new, position) order by n.position)
  )
  select count(distinct g.worker_id) into v_workers from gone g;
  with gone as (
    delete from app.tallies t
     where (select count(*) from app.tallies) > (select 20 + 2 * count(*) from (select distinct d.name, d.label from app.tallies d) k)
    returning t.name, t.label, t.amount
  ),
  added as (
    insert into app.tallies (name, label, amount) select g.name, g.label, sum(g.amount) from gone g group by 1, 2
  )
  select count(*) into v_tallies from gone g;
  return json_build_object('workers', v_workers, 'tallies', v_tallies);
end $$;
grant execute on function app.fold_counts() to fanfold_worker, fanfold_admin;
