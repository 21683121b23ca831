-- A worker that found nothing asks for hints, claims once more, and only then waits.
create or replace function app.set_idle(worker uuid, is_idle boolean)
returns void
language sql security definer
set search_path = pg_catalog, app, pg_temp
as $$
  select set_config('synchronous_commit', 'off', true);
  update app.workers set idle = is_idle where worker_id = worker and idle is distinct from is_idle;
$$;
grant execute on function app.set_idle(uuid, boolean) to fanfold_worker, fanfold_admin;
