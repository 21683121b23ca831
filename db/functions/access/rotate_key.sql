-- A new key with the name and the rights of an old one, which ends after the overlap: time to bring the new one everywhere.
-- request: {tenant?, key_id, overlap_s?, new_key_id, secret_hash, expires_at?, actor?, may?}. Without expires_at the new key lives as
-- long as the old one was given.
create or replace function app.rotate_key(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_overlap_s constant numeric := 3600;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_overlap_s numeric := c_overlap_s;
  v_old app.api_keys;
  v_new app.api_keys;
begin
  if app.not_a_count((request -> 'overlap_s')::jsonb, 0, 2592000) then
    perform app.refuse_problems('the rotation', jsonb_build_array(jsonb_build_object(
      'path', '$.overlap_s', 'problem', 'not a whole number of seconds from 0 to 30 days', 'fix', '3600 is an hour')));
  end if;
  v_overlap_s := coalesce((request ->> 'overlap_s')::numeric, c_overlap_s);
  v_old := app.own_key(v_tenant, request ->> 'key_id');
  perform app.assert_may_hand_out(nullif((request -> 'may')::jsonb, 'null')::json, v_old.scopes, v_old.operator);
  if least(v_old.expires_at, v_old.revoked_at) <= now() then
    raise exception 'key "%" has ended and cannot be rotated', v_old.key_id using errcode = 'FF006', hint = 'create a new one', detail = app.action('keys.create');
  elsif v_old.revoked_at is not null then
    raise exception 'key "%" was rotated already and ends at %', v_old.key_id, v_old.revoked_at
      using errcode = 'FF006', hint = 'rotate the key that took its place, or revoke this one now';
  end if;
  perform app.refuse_problems('the key', app.key_problems(json_build_object(
    'name', v_old.name, 'scopes', v_old.scopes, 'key_id', request ->> 'new_key_id', 'secret_hash', request ->> 'secret_hash',
    'expires_at', request ->> 'expires_at')));
  perform app.assert_room_for_key(v_tenant);
  update app.api_keys k
     set revoked_at = now() + make_interval(secs => v_overlap_s::double precision),
         revoked_by = coalesce(left(request ->> 'actor', 200), session_user)
   where k.key_id = v_old.key_id
  returning * into v_old;
  insert into app.api_keys (key_id, tenant_id, env, name, secret_hash, scopes, operator, created_by, expires_at, rotated_from)
  values (
    request ->> 'new_key_id', v_tenant, v_old.env, v_old.name, decode(request ->> 'secret_hash', 'hex'), v_old.scopes, v_old.operator,
    coalesce(left(request ->> 'actor', 200), session_user),
    coalesce((request ->> 'expires_at')::timestamptz, now() + (v_old.expires_at - v_old.created_at)), v_old.key_id)
  returning * into v_new;
  perform app.note(v_tenant, 'key.rotated', null, null, null,
    jsonb_build_object('key_id', v_old.key_id, 'new_key_id', v_new.key_id, 'name', v_new.name, 'ends_at', v_old.revoked_at), request ->> 'actor');
  return json_build_object('old', app.key_record(v_old), 'new', app.key_record(v_new));
end $$;
grant execute on function app.rotate_key(json) to fanfold_api, fanfold_admin;
