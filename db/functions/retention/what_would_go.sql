-- What the rules let go now, by kind, type and status. It looks at so many of the oldest of each kind: `at_least` says that there may be more.
create or replace function app.what_would_go(tenant text)
returns json
language sql stable
set enable_seqscan = off
as $$
  with looked_at as (
    (select 'jobs' as kind, j.job_type as of_type, j.status::text as status, j.finished_at as ended_at
       from app.jobs j
      where j.tenant_id = tenant and j.created_at < app.youngest_to_go(tenant, 'jobs')
      order by j.created_at
      limit 20000)
    union all
    (select 'requests', '', r.status, r.finished_at
       from platform.requests r
      where r.tenant_id = tenant and r.created_at < app.youngest_to_go(tenant, 'requests')
        and not exists (select from platform.releases e where e.tenant_id = tenant and e.request_id = r.request_id)
      order by r.created_at
      limit 20000)
    union all
    (select 'deliveries', '', w.status, w.ended_at
       from app.webhook_deliveries w
      where w.tenant_id = tenant
      order by w.delivery_id
      limit 20000)
    union all
    select 'tasks', s.task_type, r.status::text, r.finished_at
      from app.stages s
      cross join lateral (select k.status, k.finished_at from app.results k where k.stage_id = s.stage_id order by k.ordinal limit 20000) r
     where s.tenant_id = tenant and s.job_id is null
  ),
  grouped as (
    select g.kind, g.of_type, g.status, count(*) as looked_at, app.retention_rule(tenant, g.kind, g.of_type, g.status) as rule,
        array_agg(g.ended_at) as ends
      from looked_at g
     where g.ended_at is not null
     group by g.kind, g.of_type, g.status
  ),
  going as (
    select g.kind, g.of_type, g.status, d.n, d.oldest, (select count(*) >= 20000 from looked_at l where l.kind = g.kind) as at_least
      from grouped g
      cross join lateral (
        select count(*) as n, min(e) as oldest from unnest(g.ends) e where e < now() - make_interval(secs => (g.rule).keep_s)) d
     where d.n > 0
  )
  select coalesce(json_agg(json_build_object('kind', kind, 'type', nullif(of_type, ''), 'status', status, 'count', n,
      'oldest_at', oldest, 'at_least', at_least) order by kind, n desc, of_type, status), '[]')
    from going
$$;
