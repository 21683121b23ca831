-- Whose tasks a worker's session may touch: null = every tenant's (the server's role), else its own; nobody's is an error.
create or replace function app.worker_tenant()
returns text
language plpgsql stable
as $$
begin
  if app.is_server() then
    return null;
  end if;
  return app.acting_tenant(null);
end $$;
