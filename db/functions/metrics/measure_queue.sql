-- How much is queued and running, by task type and by tenant: [[name, due, later, oldest_s, running]].
create or replace function app.measure_queue(most integer)
returns json
language plpgsql stable
as $$
begin
  return (
    with queued as (
      select r.tenant_id, r.task_type,
        sum(r.hi - r.lo) filter (where r.run_at <= now()) as due, sum(r.hi - r.lo) filter (where r.run_at > now()) as later,
        extract(epoch from now() - min(r.run_at) filter (where r.run_at <= now())) as oldest_s, 0::numeric as running
        from app.ready r
       group by 1, 2
    ),
    running as (
      select c.tenant_id, c.task_type, null::numeric as due, null::numeric as later, null::numeric as oldest_s,
        sum(app.held_count(c.held)) as running
        from app.claims c
       group by 1, 2
    ),
    pools as (select * from queued union all select * from running),
    named as (
      select g.kind, case when row_number() over (partition by g.kind order by g.due + g.running desc, g.name) <= most then g.name else '_other' end as name,
        g.due, g.later, g.oldest_s, g.running
        from (
          select 'task_types' as kind, p.task_type as name, coalesce(sum(p.due), 0) as due, coalesce(sum(p.later), 0) as later, max(p.oldest_s) as oldest_s,
            sum(p.running) as running
            from pools p
           group by p.task_type
          union all
          select 'tenants', p.tenant_id, coalesce(sum(p.due), 0), coalesce(sum(p.later), 0), max(p.oldest_s), sum(p.running)
            from pools p
           group by p.tenant_id
        ) g
    ),
    bounded as (
      select n.kind, n.name, sum(n.due) as due, sum(n.later) as later, coalesce(max(n.oldest_s), 0) as oldest_s, sum(n.running) as running
        from named n
       group by 1, 2
    )
    select json_build_object(
        'task_types', coalesce(json_agg(b.measured order by b.name) filter (where b.kind = 'task_types'), '[]'),
        'tenants', coalesce(json_agg(b.measured order by b.name) filter (where b.kind = 'tenants'), '[]'))
      from (select d.kind, d.name, json_build_array(d.name, d.due, d.later, d.oldest_s, d.running) as measured from bounded d) b);
end $$;
