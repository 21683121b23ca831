-- The tenant of the isolated handler whose statement runs in this session; null when none does.
create or replace function app.handler_tenant()
returns text
language sql stable
as $$
  select h.tenant_id from app.handler_statements h where h.pid = pg_backend_pid()
$$;
