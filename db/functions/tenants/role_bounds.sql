-- What every session of a login role starts with, the server's or a tenant's: what holds where the connection itself says nothing, as
-- behind a pooler or in psql. Only temp_file_limit is out of the role's own reach; the others are defaults that a session may change.
-- The bounds of our own connections stand in src/engine/database/session_bounds.ts.
create or replace function app.role_bounds(is_server boolean)
returns table (name text, value text)
language sql immutable
as $$
  select b.name, case when is_server then b.of_server else b.of_tenant end
    from (values
      ('statement_timeout', '5min', '1min'),
      ('lock_timeout', '20s', '10s'),
      ('idle_in_transaction_session_timeout', '1min', '30s'),
      ('work_mem', '16MB', '8MB'),
      ('temp_file_limit', '2GB', '1GB')
    ) as b(name, of_server, of_tenant)
$$;
grant execute on function app.role_bounds(boolean) to fanfold_api, fanfold_worker, fanfold_admin;
