-- Only a worker that is registered, and has not been declared lost, may hold tasks.
create or replace function app.assert_live_worker(worker uuid)
returns void
language plpgsql
as $$
begin
  perform app.assert_my_worker(worker);
  -- Locked against being declared lost or stopped until the claim has committed: what commits later nobody would take back.
  perform 1 from app.workers w where w.worker_id = worker and w.status = 'live' for key share;
  if not found then
    raise exception 'worker % is not registered or was declared lost', worker
      using errcode = 'FF007', hint = 'register again under a fresh worker id';
  end if;
end $$;
