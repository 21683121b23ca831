-- For a task that tells an endpoint something of its own: where to, and signed with what. A paused endpoint says for how long.
create or replace function app.webhook_target(endpoint_id text, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_endpoint app.webhook_endpoints := app.find_webhook(v_tenant, webhook_target.endpoint_id);
begin
  return json_build_object(
    'url', v_endpoint.url, 'endpoint_id', v_endpoint.endpoint_id, 'timeout_s', v_endpoint.timeout_s,
    'now_s', floor(extract(epoch from clock_timestamp()))::bigint,
    'outbound', app.webhook_narrowing(v_tenant), 'secrets', app.webhook_secrets(v_endpoint),
    'disabled', case when v_endpoint.disabled_at is not null then coalesce(v_endpoint.disabled_reason, 'on request') end,
    'paused_s', case when v_endpoint.paused_until > now() then extract(epoch from v_endpoint.paused_until - now()) end);
end $$;
grant execute on function app.webhook_target(text, text) to fanfold_worker, fanfold_admin;
