-- A worker's last counts before it leaves; until then they come with its heartbeats.
create or replace function app.report_counts(worker uuid, counts json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  -- Held until they are committed: the counts of a worker that has ended are added to the total once, and then gone.
  perform app.assert_live_worker(worker, app.worker_tenant());
  perform app.store_counts(worker, counts);
  return json_build_object('ok', true);
end $$;
grant execute on function app.report_counts(uuid, json) to fanfold_worker, fanfold_admin;
