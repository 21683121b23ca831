-- The live workers that serve a tenant. Of one that serves every tenant it tells nothing that tells of the others: neither where it
-- runs nor what it does for them.
create or replace function app.list_workers(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(json_build_object(
        'worker_id', w.worker_id, 'shared', w.tenant_id is null, 'status', case when app.is_alive(w) then 'live' else 'silent' end,
        'host', case when w.tenant_id is not null then w.host end, 'pid', case when w.tenant_id is not null then w.pid end,
        'version', w.version, 'types', w.types, 'slots', w.slots, 'memory_mb', w.memory_mb,
        'memory_used_mb', case when w.tenant_id is not null then w.memory_used_mb end, 'too_large', w.too_large, 'started_at', w.started_at, 'heartbeat_at', w.heartbeat_at,
        'lease_ends_at', w.heartbeat_at + make_interval(secs => w.lease_s),
        'held', (
          select coalesce(sum(app.held_count(k.held)), 0) from app.claims k where k.worker_id = w.worker_id and k.tenant_id = v_tenant))
        order by w.started_at, w.worker_id), '[]')
      from (
        select * from app.workers a
         where a.status = 'live' and (a.tenant_id is null or a.tenant_id = v_tenant)
         order by a.started_at, a.worker_id
         limit 1000) w);
end $$;
grant execute on function app.list_workers(text) to fanfold_api, fanfold_admin;
