-- How many tasks of a tenant wait, counted. Hops from type to type through the index that claims use, so that other tenants' rows
-- are not read; those of the tenant are, so nobody does this often.
create or replace function app.count_queued(tenant text)
returns bigint
language plpgsql stable
as $$
begin
  return (
    with recursive types as (
      (select r.task_type from app.ready r order by r.task_type limit 1)
      union all
      select (select r.task_type from app.ready r where r.task_type > t.task_type order by r.task_type limit 1)
        from types t
       where t.task_type is not null
    )
    select coalesce(sum(q.queued), 0)::bigint
      from types t
      cross join lateral (
        -- The planning of a stage is [-1, 0): no task.
        select sum(r.hi - r.lo) as queued from app.ready r where r.task_type = t.task_type and r.tenant_id = tenant and r.lo >= 0
      ) q);
end $$;
