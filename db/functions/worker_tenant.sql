-- Whose tasks a worker's session may touch: null = every tenant's (the server's role, unless it has named one for this transaction:
-- it speaks for a worker that came over HTTP), else its own; nobody's is an error.
create or replace function app.worker_tenant()
returns text
language plpgsql stable
as $$
begin
  if app.is_server() then
    return nullif(current_setting('fanfold.tenant', true), '');
  end if;
  return app.acting_tenant(null);
end $$;
