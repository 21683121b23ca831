-- Changes an endpoint: whatever of url, events, description, timeout_s and enabled the request has. request: {tenant?, endpoint_id,
-- …, reason?, actor?}. Disabling discards what waits for it; enabling forgets its failures, and what was discarded can be replayed.
create or replace function app.update_webhook(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_actor text := coalesce(request ->> 'actor', session_user);
  v_enabled boolean := (request ->> 'enabled')::boolean;
  v_endpoint app.webhook_endpoints;
begin
  perform app.check_webhook(request ->> 'url', request -> 'events', request ->> 'description', request ->> 'timeout_s', null);
  v_endpoint := app.find_webhook(v_tenant, request ->> 'endpoint_id', true);
  update app.webhook_endpoints e
     set url = coalesce(request ->> 'url', e.url), description = coalesce(request ->> 'description', e.description),
         timeout_s = coalesce((request ->> 'timeout_s')::integer, e.timeout_s),
         events = case
           when json_typeof(request -> 'events') = 'array' then array(select distinct v from json_array_elements_text(request -> 'events') v order by 1)
           else e.events
         end
   where e.tenant_id = v_tenant and e.endpoint_id = v_endpoint.endpoint_id;
  if v_enabled and v_endpoint.disabled_at is not null then
    update app.webhook_endpoints e
       set disabled_at = null, disabled_reason = null, failure_streak = 0, failing_since = null, pause_count = 0, paused_until = null,
           probe_id = null, probe_until = null
     where e.tenant_id = v_tenant and e.endpoint_id = v_endpoint.endpoint_id;
    perform app.note(v_tenant, 'webhook.enabled', null, null, request ->> 'reason',
      jsonb_build_object('endpoint_id', v_endpoint.endpoint_id), v_actor);
  elsif not v_enabled and v_endpoint.disabled_at is null then
    perform app.disable_endpoint(v_endpoint, coalesce(left(request ->> 'reason', 400), 'disabled on request'), v_actor);
  else
    perform app.note(v_tenant, 'webhook.updated', null, null, request ->> 'reason',
      jsonb_build_object('endpoint_id', v_endpoint.endpoint_id), v_actor);
  end if;
  return app.webhook_record(app.find_webhook(v_tenant, v_endpoint.endpoint_id));
end $$;
grant execute on function app.update_webhook(json) to fanfold_api, fanfold_admin;
