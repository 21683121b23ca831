-- For the server: the key of a credential with the hash to compare, or null. Whether it may still be used is decided here, by the
-- database's clock.
create or replace function app.find_key(key_id text)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  if not app.is_server() then
    raise exception 'only the server looks up keys' using errcode = 'FF005';
  end if;
  return (
    select json_build_object(
        'key_id', k.key_id, 'tenant_id', k.tenant_id, 'env', k.env, 'scopes', k.scopes, 'operator', k.operator,
        'secret_hash', encode(k.secret_hash, 'hex'),
        'expires_in_s', extract(epoch from k.expires_at - now()),
        'usable', (k.revoked_at is null or k.revoked_at > now()) and (k.expires_at is null or k.expires_at > now()))
      from app.api_keys k
     where k.key_id = find_key.key_id);
end $$;
grant execute on function app.find_key(text) to fanfold_api, fanfold_admin;
