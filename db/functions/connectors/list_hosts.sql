-- What a tenant's connectors have called lately, the troubled first: how many calls are under way, and whether the circuit is open.
create or replace function app.list_hosts(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(json_build_object(
        'scope', h.scope, 'breaker', h.breaker, 'open_until', h.open_until,
        'wait_until', case when h.wait_until > now() then h.wait_until end,
        'calls', (select count(*) from app.host_slots s where s.tenant_id = v_tenant and s.scope = h.scope and s.expires_at > now()),
        'failed_count', h.window_failed, 'ok_count', h.window_ok, 'mean_s', round(h.mean_s::numeric, 3), 'used_at', h.used_at)
      order by h.breaker = 'closed', h.used_at desc, h.scope), '[]')
      from (select * from app.host_states where tenant_id = v_tenant order by breaker = 'closed', used_at desc limit 1000) h);
end $$;
grant execute on function app.list_hosts(text) to fanfold_api, fanfold_admin;
