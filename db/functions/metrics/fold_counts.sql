-- Adds what workers that have ended had counted to the total, and many small tallies to few. Sums stay what they were.
create or replace function app.fold_counts()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_total constant uuid := uuid '00000000-0000-0000-0000-000000000000';
  c_types constant integer := 1000;
  v_there bigint;
  v_workers integer;
  v_tallies integer;
begin
  -- Totals are everybody's. One at a time: two would wait for each other's rows.
  if not app.take_duty('counts') then
    return json_build_object('workers', 0, 'tallies', 0);
  end if;
  select count(*) into v_there from app.work_counts c where c.worker_id = c_total;
  with gone as (
    delete from app.work_counts c
     where c.ctid = any (array(
       select k.ctid from app.work_counts k
        where k.worker_id <> c_total
          and not exists (select from app.workers w where w.worker_id = k.worker_id and w.status = 'live')
          for update of k skip locked))
    returning c.worker_id, c.task_type, c.counts
  ),
  -- Types come and go, and a tenant that makes them up must not fill the table: beyond so many they are one.
  named as (
    select d.task_type, case
        when d.is_there or row_number() over (partition by d.is_there order by d.task_type) <= c_types - v_there then d.task_type
        else '_other'
      end as name
      from (
        select k.task_type, exists (select from app.work_counts t where t.worker_id = c_total and t.task_type = k.task_type) as is_there
          from (select distinct g.task_type from gone g) k
      ) d
  ),
  added as (
    insert into app.work_counts as t (worker_id, task_type, counts)
    select c_total, s.task_type, array_agg(s.amount order by s.position)
      from (
        select m.name as task_type, n.position, sum(n.amount) as amount
          from gone g
          join named m on m.task_type = g.task_type
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
    insert into app.tallies (name, label, amount) 
    select r.name, r.label, sum(r.amount)
      from (
        select g.name, g.amount, case
            when dense_rank() over (partition by g.name order by g.total desc, g.label) <= c_types then g.label
            else '_other'
          end as label
          from (select d.*, sum(d.amount) over (partition by d.name, d.label) as total from gone d) g
      ) r
     group by 1, 2
  )
  select count(*) into v_tallies from gone g;
  with many as (
    select t.tenant_id, t.job_type, t.status from app.job_tallies t group by 1, 2, 3 having count(*) > 8
  ),
  gone as (
    delete from app.job_tallies t
     using many m
     where (t.tenant_id, t.job_type, t.status) = (m.tenant_id, m.job_type, m.status)
    returning t.tenant_id, t.job_type, t.status, t.amount
  )
  insert into app.job_tallies (tenant_id, job_type, status, amount)
  select g.tenant_id, g.job_type, g.status, sum(g.amount) from gone g group by 1, 2, 3 having sum(g.amount) <> 0;
  return json_build_object('workers', v_workers, 'tallies', v_tallies);
end $$;
grant execute on function app.fold_counts() to fanfold_worker, fanfold_admin;
