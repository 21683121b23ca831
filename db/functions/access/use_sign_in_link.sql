-- For the server: a link becomes a session, once. A second caller finds the row gone, however close they are. null: there is
-- no such link, it was used, its time is over, or its key has ended. request: {code_hash, token_hash}, both hex.
create or replace function app.use_sign_in_link(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_link app.sessions;
  v_key app.api_keys;
  v_session app.sessions;
begin
  perform app.assert_server('use links that sign in');
  delete from app.sessions s
   where s.token_hash = decode(request ->> 'code_hash', 'hex') and s.kind = 'link' and s.expires_at > now()
  returning * into v_link;
  if not found then
    return null;
  end if;
  select * into v_key from app.api_keys k where k.key_id = v_link.key_id;
  if least(v_key.expires_at, v_key.revoked_at) <= now() then
    return null;
  end if;
  v_session := app.add_session(v_key, decode(request ->> 'token_hash', 'hex'), 'session');
  perform app.note(v_key.tenant_id, 'key.signed_in', null, null, null,
    jsonb_build_object('key_id', v_key.key_id, 'name', v_key.name, 'by', 'link'), 'key:' || v_key.key_id);
  return app.session_record(v_session);
end $$;
grant execute on function app.use_sign_in_link(json) to fanfold_api, fanfold_admin;
