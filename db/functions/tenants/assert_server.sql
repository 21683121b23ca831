-- Refuses every role but the server's: what it asks for concerns several tenants.
create or replace function app.assert_server(what text)
returns void
language plpgsql stable
as $$
begin
  if not app.is_server() then
    raise exception 'role "%" may not %', session_user, what
      using errcode = 'FF005', hint = 'ask as the server''s role; an administrator makes one: select app.map_role(''' || session_user || ''', null)';
  end if;
end $$;
