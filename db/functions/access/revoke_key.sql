-- Ends a key now. Server processes remember a key for at most five seconds, so it is refused everywhere by then. Revoking it twice
-- is no error. request: {tenant?, key_id, reason?, actor?, may?}
create or replace function app.revoke_key(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_key app.api_keys := app.own_key(v_tenant, request ->> 'key_id');
begin
  -- Whose scopes they are is not asked: taking away hands out nothing. An operator's key is not for everybody to take away.
  perform app.assert_may_hand_out(nullif((request -> 'may')::jsonb, 'null')::json, '{}', v_key.operator);
  if v_key.revoked_at <= now() then
    return app.key_record(v_key);
  end if;
  update app.api_keys k
     set revoked_at = now(), revoked_by = coalesce(left(request ->> 'actor', 200), session_user)
   where k.key_id = v_key.key_id
  returning * into v_key;
  perform app.note(v_tenant, 'key.revoked', null, null, request ->> 'reason',
    jsonb_build_object('key_id', v_key.key_id, 'name', v_key.name), request ->> 'actor');
  return app.key_record(v_key);
end $$;
grant execute on function app.revoke_key(json) to fanfold_api, fanfold_admin;
