-- Refuses a further key of a tenant that has as many as it may: each one that is usable is something to watch over.
create or replace function app.assert_room_for_key(tenant text)
returns void
language plpgsql
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_most constant integer := 1000;
begin
  if (
    select count(*) from app.api_keys k
     where k.tenant_id = tenant and (k.revoked_at is null or k.revoked_at > now()) and (k.expires_at is null or k.expires_at > now())
  ) >= c_most then
    raise exception 'a tenant has at most % keys that can be used', c_most
      using errcode = 'FF009', hint = 'revoke those that are not used', detail = app.action('keys.revoke');
  end if;
end $$;
