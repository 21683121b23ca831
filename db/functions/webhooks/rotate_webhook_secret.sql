-- Gives an endpoint a new secret. For `overlap_s` seconds deliveries are signed with the ones before as well.
create or replace function app.rotate_webhook_secret(
  endpoint_id text, secret text, overlap_s double precision default 86400, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_most_old constant integer := 3;
  v_tenant text := app.acting_tenant(tenant);
  v_endpoint app.webhook_endpoints;
  v_until timestamptz;
begin
  if overlap_s is null or overlap_s not between 0 and 2592000 then
    raise exception 'overlap_s is not from 0 to 2592000 seconds' using errcode = 'FF002', hint = '86400 is a day';
  end if;
  perform app.check_webhook(null, null, null, null, rotate_webhook_secret.secret);
  v_endpoint := app.find_webhook(v_tenant, rotate_webhook_secret.endpoint_id, true);
  v_until := now() + make_interval(secs => overlap_s);
  update app.webhook_endpoints e
     set secrets = jsonb_build_array(jsonb_build_object('secret', rotate_webhook_secret.secret, 'since', now())) || coalesce((
       select jsonb_agg(o.item || jsonb_build_object('until', least((o.item ->> 'until')::timestamptz, v_until)) order by o.position)
         from (
           select s.item, s.position from jsonb_array_elements(e.secrets) with ordinality as s(item, position)
            where overlap_s > 0 and coalesce((s.item ->> 'until')::timestamptz > now(), true)
            order by s.position
            limit c_most_old) o), '[]')
   where e.tenant_id = v_tenant and e.endpoint_id = v_endpoint.endpoint_id;
  perform app.note(v_tenant, 'webhook.secret_rotated', null, null, null,
    jsonb_build_object('endpoint_id', v_endpoint.endpoint_id, 'overlap_s', overlap_s), actor);
  return app.webhook_record(app.find_webhook(v_tenant, v_endpoint.endpoint_id));
end $$;
grant execute on function app.rotate_webhook_secret(text, text, double precision, text, text) to fanfold_api, fanfold_admin;
