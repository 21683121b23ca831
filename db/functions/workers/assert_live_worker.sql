-- Only a worker of this session's that is registered, and has not been declared lost, may hold tasks. `tenant` is the session's
-- worker_tenant().
create or replace function app.assert_live_worker(worker uuid, tenant text)
returns void
language plpgsql
as $$
begin
  -- Locked against being declared lost or stopped until the claim has committed: what commits later nobody would take back.
  perform 1
     from app.workers w
    where w.worker_id = worker and w.status = 'live' and (tenant is null or w.tenant_id = tenant)
      for key share;
  if not found then
    raise exception 'worker % is not registered or was declared lost', worker
      using errcode = 'FF007', hint = 'register again under a fresh worker id';
  end if;
end $$;
