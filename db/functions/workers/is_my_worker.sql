-- May this session speak for that worker? A worker's id can be read in the rows it touched, so knowing it proves nothing: a
-- role that is one tenant speaks only for workers it registered.
create or replace function app.is_my_worker(worker uuid)
returns boolean
language plpgsql stable
as $$
declare
  v_tenant text := app.worker_tenant();
begin
  return exists (
    select from app.workers w where w.worker_id = worker and (v_tenant is null or w.tenant_id is not distinct from v_tenant));
end $$;
