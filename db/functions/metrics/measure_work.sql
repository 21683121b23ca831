-- What workers counted, by task type: the `most` of which most was done are named, the others are one, _other.
create or replace function app.measure_work(most integer)
returns json
language sql stable
as $$
  with by_type as materialized (
    select w.task_type, n.position, sum(n.amount) as amount
      from app.work_counts w
      cross join lateral unnest(w.counts) with ordinality as n(amount, position)
     group by 1, 2
  ),
  named as (
    select b.task_type, case
        when b.task_type <> '_other' and row_number() over (order by b.task_type = '_other', max(b.amount) desc, b.task_type) <= most then b.task_type
        else '_other'
      end as name
      from by_type b
     group by b.task_type
  ),
  added as (
    select n.name, b.position, sum(b.amount) as amount from by_type b join named n on n.task_type = b.task_type group by 1, 2
  )
  select coalesce(json_object_agg(t.name, t.counts), '{}')
    from (select a.name, json_agg(a.amount order by a.position) as counts from added a group by a.name) t
$$;
