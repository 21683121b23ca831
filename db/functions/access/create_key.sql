-- Makes an API key. The caller made the secret and shows it once; only its hash comes here.
-- request: {tenant?, key_id, env?, name, secret_hash (hex), scopes, operator?, expires_at?, actor?, may?}; `may` bounds what may
-- be handed out.
create or replace function app.create_key(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_key app.api_keys;
  v_scopes text[];
begin
  -- All before the insert: a constraint that fails would tell the whole row.
  perform app.refuse_problems('the key', app.key_problems(request));
  v_scopes := array(select distinct s from json_array_elements_text(request -> 'scopes') s order by s);
  perform app.assert_may_hand_out(nullif((request -> 'may')::jsonb, 'null')::json, v_scopes, coalesce((request ->> 'operator')::boolean, false));
  perform app.assert_room_for_key(v_tenant);
  insert into app.api_keys (key_id, tenant_id, env, name, secret_hash, scopes, operator, created_by, expires_at)
  values (
    request ->> 'key_id', v_tenant, coalesce(request ->> 'env', 'live'), request ->> 'name', decode(request ->> 'secret_hash', 'hex'),
    v_scopes, coalesce((request ->> 'operator')::boolean, false), coalesce(left(request ->> 'actor', 200), session_user),
    (request ->> 'expires_at')::timestamptz)
  returning * into v_key;
  perform app.note(v_tenant, 'key.created', null, null, null,
    jsonb_build_object('key_id', v_key.key_id, 'name', v_key.name, 'scopes', v_key.scopes, 'operator', v_key.operator), request ->> 'actor');
  return app.key_record(v_key);
end $$;
grant execute on function app.create_key(json) to fanfold_api, fanfold_admin;
