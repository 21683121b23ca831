-- For the server: the key of a credential with the hash to compare, or null. Whether it may still be used, and for how long, is
-- decided here, by the database's clock.
create or replace function app.find_key(key_id text)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.assert_server('look up keys');
  return (
    select json_build_object(
        'key_id', k.key_id, 'tenant_id', k.tenant_id, 'env', k.env, 'scopes', k.scopes, 'operator', k.operator,
        'secret_hash', encode(k.secret_hash, 'hex'),
        'usable_for_s', extract(epoch from least(k.expires_at, k.revoked_at) - now()),
        'usable', coalesce(least(k.expires_at, k.revoked_at) > now(), true))
      from app.api_keys k
     where k.key_id = find_key.key_id);
end $$;
grant execute on function app.find_key(text) to fanfold_api, fanfold_admin;
