-- A key as it is shown: without what could be tried out on it.
create or replace function app.key_record(key app.api_keys)
returns json
language plpgsql stable
as $$
begin
  return json_build_object(
    'key_id', key.key_id, 'tenant_id', key.tenant_id, 'env', key.env, 'name', key.name, 'scopes', key.scopes, 'operator', key.operator,
    'status', case
      when key.revoked_at <= now() then 'revoked'
      when key.expires_at <= now() then 'expired'
      when key.revoked_at is not null then 'ending'
      else 'active' end,
    'created_at', key.created_at, 'created_by', key.created_by, 'expires_at', key.expires_at, 'last_used_at', key.last_used_at,
    'revoked_at', key.revoked_at, 'revoked_by', key.revoked_by, 'rotated_from', key.rotated_from);
end $$;
