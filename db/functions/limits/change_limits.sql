-- For the server: changes what a tenant may use at most. request: {tenant, limits: {…}, actor?}. What is named is set, null lifts it,
-- and what is not named stays.
create or replace function app.change_limits(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := request ->> 'tenant';
  v_given jsonb := (request -> 'limits')::jsonb;
  v_before jsonb;
  v_limits app.limits;
begin
  perform app.assert_server('set limits');
  perform app.refuse_problems('the limits', app.limit_problems(v_given));
  if not exists (select from app.tenants t where t.tenant_id = v_tenant) then
    raise exception 'there is no tenant "%"', left(v_tenant, 80) using errcode = 'FF001', hint = 'create it', detail = app.action('tenants.create');
  end if;
  insert into app.limits (tenant_id) values (v_tenant) on conflict do nothing;
  select * into v_limits from app.limits l where l.tenant_id = v_tenant for update;
  v_before := app.limits_record(v_limits);
  v_limits := jsonb_populate_record(v_limits, v_given);
  update app.limits l
     set concurrent_tasks = v_limits.concurrent_tasks, queued_tasks = v_limits.queued_tasks, submits_per_s = v_limits.submits_per_s,
         submit_burst = v_limits.submit_burst, fan_out = v_limits.fan_out, submit_bytes = v_limits.submit_bytes,
         plan_bytes = v_limits.plan_bytes
   where l.tenant_id = v_tenant;
  if v_limits.queued_tasks is not null or v_limits.submits_per_s is not null then
    insert into app.tenant_usage (tenant_id, tokens) values (v_tenant, app.burst_of(v_limits)) on conflict do nothing;
  end if;
  perform app.note(v_tenant, 'tenant.limited', null, null, null,
    jsonb_build_object('before', v_before, 'after', app.limits_record(v_limits)), request ->> 'actor');
  return (jsonb_build_object('tenant_id', v_tenant) || app.limits_record(v_limits))::json;
end $$;
grant execute on function app.change_limits(json) to fanfold_api, fanfold_admin;
