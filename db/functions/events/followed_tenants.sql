-- The tenants whose events this session may follow, of those it names: all of them for the server's role, else its own.
create or replace function app.followed_tenants(tenants json)
returns text[]
language plpgsql stable
as $$
begin
  if app.is_server() then
    return array(select t from json_array_elements_text(tenants) t);
  end if;
  return array[app.acting_tenant(null)];
end $$;
