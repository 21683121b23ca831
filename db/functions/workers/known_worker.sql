-- What a worker said of itself when it registered; an error unless it is live and this session's own.
create or replace function app.known_worker(worker uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_worker app.workers;
begin
  select * into v_worker from app.workers w where w.worker_id = worker and w.status = 'live' and app.is_my_worker(worker);
  if not found then
    raise exception 'worker % is not registered or was declared lost', worker
      using errcode = 'FF007', hint = 'register again under a fresh worker id';
  end if;
  return json_build_object('types', v_worker.types, 'slots', v_worker.slots, 'lease_s', v_worker.lease_s);
end $$;
grant execute on function app.known_worker(uuid) to fanfold_worker, fanfold_admin;
