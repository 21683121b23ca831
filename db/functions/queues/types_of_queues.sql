-- The task types of which a tenant has something queued, running, paused, or a history. Hops from type to type through indexes: neither
-- other tenants' rows nor all of this one's are read.
create or replace function app.types_of_queues(tenant text, most integer)
returns table (task_type text)
language plpgsql stable
as $$
begin
  return query
    with recursive queued as (
      (select r.task_type as name, 1 as hop from app.ready r order by r.task_type limit 1)
      union all
      select (select r.task_type from app.ready r where r.task_type > q.name order by r.task_type limit 1), q.hop + 1
        from queued q
       where q.name is not null and q.hop < 5000
    ),
    ran as (
      (select m.task_type as name from app.rate_minutes m where m.tenant_id = tenant order by m.task_type limit 1)
      union all
      select (select m.task_type from app.rate_minutes m where m.tenant_id = tenant and m.task_type > r.name order by m.task_type limit 1)
        from ran r
       where r.name is not null
    )
    select k.name::text
      from (
        select q.name from queued q where exists (select from app.ready r where r.task_type = q.name and r.tenant_id = tenant)
        union
        select r.name from ran r where r.name is not null
        union
        select c.task_type from app.claims c where c.tenant_id = tenant
        union
        select z.task_type from app.paused_types z where z.tenant_id = tenant
      ) k
     order by k.name
     limit most;
end $$;
