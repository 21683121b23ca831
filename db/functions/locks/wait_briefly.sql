-- For what is done for all tenants on one connection: until this transaction ends it waits for no lock longer than a fraction of
-- a second, at its commit either. A tenant with a login can leave a transaction open, and may hold up its own tenant and no other.
create or replace function app.wait_briefly()
returns void
language plpgsql
as $$
begin
  perform set_config('lock_timeout', '300ms', true);
end $$;
