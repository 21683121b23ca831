-- For the server: a session, or a link that opens one, of a key that has just been shown. The caller made the token; only its
-- hash comes here. request: {tenant?, key_id, token_hash (hex), kind}
create or replace function app.open_session(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text;
  v_key app.api_keys;
  v_session app.sessions;
begin
  perform app.assert_server('open sessions');
  v_tenant := app.acting_tenant(request ->> 'tenant');
  select * into v_key from app.api_keys k where k.key_id = request ->> 'key_id' and k.tenant_id = v_tenant;
  if not found then
    raise exception 'there is no key "%"', left(request ->> 'key_id', 40) using errcode = 'FF001', hint = 'list them', detail = app.action('keys.list');
  elsif least(v_key.expires_at, v_key.revoked_at) <= now() then
    raise exception 'key "%" has ended: nobody signs in with it', v_key.key_id
      using errcode = 'FF006', hint = 'create a new one', detail = app.action('keys.create');
  end if;
  v_session := app.add_session(v_key, decode(request ->> 'token_hash', 'hex'), request ->> 'kind');
  perform app.note(v_tenant, case v_session.kind when 'link' then 'key.link_made' else 'key.signed_in' end, null, null, null,
    jsonb_build_object('key_id', v_key.key_id, 'name', v_key.name), 'key:' || v_key.key_id);
  return app.session_record(v_session);
end $$;
grant execute on function app.open_session(json) to fanfold_api, fanfold_admin;
