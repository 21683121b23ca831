-- Workers whose lease is over and that still hold tasks of the tenant: [{worker_id, host, claims, silent_s}].
create or replace function app.silent_holders(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(json_build_object(
        'worker_id', w.worker_id, 'host', w.host, 'claims', h.n,
        'silent_s', extract(epoch from clock_timestamp() - w.heartbeat_at)) order by w.worker_id), '[]')
      from app.workers w
      join lateral (select count(*) as n from app.claims c where c.worker_id = w.worker_id and c.tenant_id = v_tenant) h on h.n > 0
     where w.heartbeat_at + make_interval(secs => w.lease_s) < clock_timestamp());
end $$;
grant execute on function app.silent_holders(text) to fanfold_api, fanfold_admin;
