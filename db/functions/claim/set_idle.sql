-- A worker that found nothing asks for hints, claims once more, and only then waits.
create or replace function app.set_idle(worker uuid, is_idle boolean)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform app.assert_my_worker(worker);
  update app.workers w set idle = is_idle where w.worker_id = worker and w.idle is distinct from is_idle;
end $$;
grant execute on function app.set_idle(uuid, boolean) to fanfold_worker, fanfold_admin;
