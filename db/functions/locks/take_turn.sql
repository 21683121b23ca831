-- For callers who look first and write then: of one tenant and one name they come one after the other, each until its transaction ends.
create or replace function app.take_turn(name text, tenant text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.lock_named(app.acting_tenant(tenant) || ' turn ' || name);
end $$;
grant execute on function app.take_turn(text, text) to fanfold_api, fanfold_admin;
