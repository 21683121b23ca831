-- Makes an endpoint. request: {tenant?, endpoint_id, url, secret (sealed, or secret://name), events?, description?, timeout_s?,
-- actor?}. The caller made the secret, sealed it, and shows it once.
create or replace function app.create_webhook(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_most constant integer := 100;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_endpoint app.webhook_endpoints;
begin
  perform app.check_webhook(request ->> 'url', request -> 'events', request ->> 'description', request ->> 'timeout_s', request ->> 'secret');
  if (select count(*) from app.webhook_endpoints e where e.tenant_id = v_tenant) >= c_most then
    raise exception 'a tenant has at most % webhook endpoints', c_most using errcode = 'FF009', hint = 'delete one that is not used';
  end if;
  -- Made here, so that no job's end has to: two that did would wait for each other.
  perform app.standing_stage(v_tenant, 'connector.webhook.deliver');
  insert into app.webhook_endpoints (tenant_id, endpoint_id, url, description, events, secrets, timeout_s, created_by)
  values (
    v_tenant, request ->> 'endpoint_id', request ->> 'url', request ->> 'description',
    case
      when json_typeof(request -> 'events') = 'array' then array(select distinct e from json_array_elements_text(request -> 'events') e order by 1)
      -- Requests are heard of by those who ask for it.
      else array(select e from unnest(app.webhook_events()) e where e like 'job.%')
    end,
    jsonb_build_array(jsonb_build_object('secret', request ->> 'secret', 'since', now())),
    coalesce((request ->> 'timeout_s')::integer, 20), coalesce(left(request ->> 'actor', 200), session_user))
  returning * into v_endpoint;
  perform app.note(v_tenant, 'webhook.created', null, null, null,
    jsonb_build_object('endpoint_id', v_endpoint.endpoint_id, 'url', v_endpoint.url, 'events', v_endpoint.events), request ->> 'actor');
  return app.webhook_record(v_endpoint);
end $$;
grant execute on function app.create_webhook(json) to fanfold_api, fanfold_admin;
