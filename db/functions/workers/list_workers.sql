-- The live workers that serve a tenant, and those that have gone within the hour. Of one that serves every tenant it tells nothing that
-- tells of the others: neither where it runs nor what it does for them. `everything`: for operators of the service, who may know.
create or replace function app.list_workers(tenant text default null, everything boolean default false)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_all boolean := coalesce(everything, false) and app.is_server();
begin
  return json_build_object(
    'workers', (
      select coalesce(json_agg(json_build_object(
          'worker_id', w.worker_id, 'shared', w.tenant_id is null, 'status', case when w.silent_s is null then 'live' else 'silent' end, 'silent_s', w.silent_s,
          'host', case when w.own then w.host end, 'pid', case when w.own then w.pid end,
          'version', w.version, 'types', w.types, 'slots', w.slots, 'memory_mb', w.memory_mb,
          'memory_used_mb', case when w.own then w.memory_used_mb end, 'rss_mb', case when w.own then w.rss_mb end,
          'too_large', w.too_large, 'started_at', w.started_at, 'heartbeat_at', w.heartbeat_at, 'draining_at', w.draining_at,
          'lease_s', w.lease_s, 'lease_ends_at', w.heartbeat_at + make_interval(secs => w.lease_s),
          'running', r.mine, 'held', h.mine, 'held_by_others', case when v_all then h.others end)
          order by w.started_at, w.worker_id), '[]')
        from (
          select a.*, app.silent_s(a) as silent_s, v_all or a.tenant_id is not null as own
            from app.workers a
           where a.status = 'live' and (a.tenant_id is null or a.tenant_id = v_tenant)
           order by a.started_at, a.worker_id
           limit 1000) w
        cross join lateral (
          select coalesce(sum(app.held_count(k.held)) filter (where k.tenant_id = v_tenant), 0) as mine,
            coalesce(sum(app.held_count(k.held)) filter (where k.tenant_id <> v_tenant), 0) as others
            from app.claims k
           where k.worker_id = w.worker_id and (v_all or k.tenant_id = v_tenant)) h
        cross join lateral (
          select count(*) as mine
            from jsonb_array_elements(w.running) u
            join app.stages s on s.stage_id = (u ->> 'stage_id')::numeric::bigint
           where s.tenant_id = v_tenant or v_all) r),
    'gone', (
      select coalesce(json_agg(json_build_object(
          'worker_id', g.worker_id, 'shared', g.tenant_id is null, 'status', g.status,
          'host', case when g.own then g.host end, 'pid', case when g.own then g.pid end, 'version', g.version, 'slots', g.slots,
          'started_at', g.started_at, 'heartbeat_at', g.heartbeat_at, 'ended_at', g.ended_at,
          'went_back', case when v_all then (select coalesce(sum(t.value::bigint), 0) from jsonb_each_text(g.went_back) t)
            else coalesce((g.went_back ->> v_tenant)::bigint, 0) end)
          order by g.ended_at desc, g.worker_id), '[]')
        from (
          select a.*, v_all or a.tenant_id is not null as own
            from app.workers a
           where a.status <> 'live' and a.ended_at > now() - interval '1 hour' and (a.tenant_id is null or a.tenant_id = v_tenant)
           order by a.ended_at desc
           limit 50) g));
end $$;
grant execute on function app.list_workers(text, boolean) to fanfold_api, fanfold_admin;
