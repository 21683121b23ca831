-- A worker as evidence. Which machine it runs on is told to its own tenant and to the server's role, as row-level security would.
create or replace function app.worker_facts(worker app.workers, tenant text)
returns json
language plpgsql stable
as $$
declare
  v_own boolean := worker.tenant_id is not distinct from tenant or app.is_server();
begin
  return json_build_object(
    'worker_id', worker.worker_id, 'host', case when v_own then worker.host end, 'pid', case when v_own then worker.pid end,
    'status', worker.status, 'heartbeat_at', worker.heartbeat_at,
    'lease_ends_at', worker.heartbeat_at + make_interval(secs => worker.lease_s));
end $$;
