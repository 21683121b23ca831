-- What a tenant may use at most, and what it uses at present. `submits_left` is null where that is not limited.
create or replace function app.get_limits(tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_limits app.limits;
  v_usage app.tenant_usage;
begin
  select * into v_limits from app.limits l where l.tenant_id = v_tenant;
  select * into v_usage from app.tenant_usage u where u.tenant_id = v_tenant;
  return json_build_object(
    'tenant_id', v_tenant, 'limits', app.limits_record(v_limits),
    'usage', json_build_object(
      'queued_tasks', app.count_queued(v_tenant),
      'concurrent_tasks', (select coalesce(sum(app.held_count(c.held)), 0)::bigint from app.claims c where c.tenant_id = v_tenant),
      'submits_left', case when v_limits.submits_per_s is not null then greatest(0, floor(coalesce(app.tokens_of(v_limits, v_usage), app.burst_of(v_limits)))) end));
end $$;
grant execute on function app.get_limits(text) to fanfold_api, fanfold_admin;
