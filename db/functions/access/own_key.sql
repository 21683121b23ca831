-- A key of the tenant, locked; another tenant's key does not exist.
create or replace function app.own_key(tenant text, key text)
returns app.api_keys
language plpgsql
as $$
declare
  v_key app.api_keys;
begin
  select * into v_key from app.api_keys k where k.key_id = key and k.tenant_id = tenant for update;
  if not found then
    raise exception 'there is no key "%"', left(key, 40) using errcode = 'FF001', hint = 'list them', detail = app.action('keys.list');
  end if;
  return v_key;
end $$;
