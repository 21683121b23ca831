-- For the router: whose a credential is, as far as this cell knows, or null. `state` null: it lives here. request: one of {key_id, token_hash,
-- tenant_id}. A key comes with its hash and what it may, as find_key gives it.
create or replace function app.find_home(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := request ->> 'tenant_id';
  v_key json;
begin
  perform app.assert_server('look for the homes of tenants');
  if request ->> 'key_id' is not null then
    v_key := app.find_key(request ->> 'key_id');
    v_tenant := v_key ->> 'tenant_id';
  elsif request ->> 'token_hash' is not null then
    select s.tenant_id into v_tenant from app.sessions s where s.token_hash = decode(request ->> 'token_hash', 'hex') and s.expires_at > now();
  end if;
  return (
    select json_build_object('tenant_id', t.tenant_id, 'state', m.state, 'key', v_key)
      from app.tenants t
      left join app.moving_tenants m on m.tenant = t.tenant_id
     where t.tenant_id = v_tenant);
end $$;
grant execute on function app.find_home(json) to fanfold_api, fanfold_admin;
