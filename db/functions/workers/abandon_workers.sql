-- For the embedded database: the process that holds its folder knows that every worker before it is dead, and need not wait
-- for their leases to end.
create or replace function app.abandon_workers()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  update app.workers set heartbeat_at = 'epoch' where status = 'live';
  return app.reap_workers();
end $$;
grant execute on function app.abandon_workers() to fanfold_admin;
