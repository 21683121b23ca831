create or replace function app.get_key(key text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_key app.api_keys;
begin
  select * into v_key from app.api_keys k where k.key_id = key and k.tenant_id = v_tenant;
  if not found then
    raise exception 'there is no key "%"', left(key, 40) using errcode = 'FF001', hint = 'list them', detail = app.action('keys.list');
  end if;
  return app.key_record(v_key);
end $$;
grant execute on function app.get_key(text, text) to fanfold_api, fanfold_admin;
