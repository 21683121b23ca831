-- A new incarnation reports for work. All workers that are connected may use half of the server's connections together: beyond that
-- a worker is refused here, before it could crowd out everybody else. The workers of one tenant may use a quarter of that. One that was
-- killed has no connection, and does not count, though its lease may not be over.
create or replace function app.register_worker(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.worker_tenant();
  -- A tenant's own role keeps what it holds, and the connections it counts for, from others for minutes at most.
  v_lease integer := least(greatest(coalesce((request ->> 'lease_s')::integer, 30), 1), case when app.is_server() then 3600 else 300 end);
  v_connections integer := greatest(coalesce((request ->> 'connections')::integer, 0), 0);
  v_used bigint;
  v_own bigint;
  v_limit integer := current_setting('max_connections')::integer / 2;
begin
  select coalesce(sum(w.connections), 0), coalesce(sum(w.connections) filter (where w.tenant_id = v_tenant), 0) into v_used, v_own
    from app.workers w
   where w.connections > 0 and app.is_alive(w) and app.is_connected(w);
  if v_connections > 0 and v_used + v_connections > v_limit then
    raise exception 'this worker needs % connections, and live workers use % of the % they may have together', v_connections, v_used, v_limit
      using errcode = 'FF008', hint = 'stop a worker, give each fewer connections, or raise max_connections';
  end if;
  if v_connections > 0 and v_tenant is not null and v_own + v_connections > v_limit / 4 then
    raise exception 'this worker needs % connections, and the workers of one tenant have % of % they may use', v_connections, v_own, v_limit / 4
      using errcode = 'FF008', hint = 'stop one of this tenant''s workers, give each fewer connections, or raise max_connections';
  end if;
  insert into app.workers (worker_id, tenant_id, host, pid, version, types, slots, connections, backend_pid, lease_s, memory_mb, too_large)
  values (
    (request ->> 'worker_id')::uuid, v_tenant, left(request ->> 'host', 255), (request ->> 'pid')::integer,
    left(request ->> 'version', 100), array(select t from json_array_elements_text(request -> 'types') t),
    coalesce((request ->> 'slots')::integer, 1), v_connections, pg_backend_pid(), v_lease,
    greatest((request ->> 'memory_mb')::integer, 0), coalesce((request -> 'too_large')::jsonb, '{}'));
  return json_build_object('lease_s', v_lease);
exception
  when unique_violation then
    raise exception 'worker id % is taken', request ->> 'worker_id' using errcode = 'FF003', hint = 'make a fresh UUID at each start';
end $$;
grant execute on function app.register_worker(json) to fanfold_worker, fanfold_admin;
