-- A new incarnation reports for work.
create or replace function app.register_worker(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_lease integer := least(greatest(coalesce((request ->> 'lease_s')::integer, 30), 1), 3600);
begin
  insert into app.workers (worker_id, tenant_id, host, pid, version, types, slots, lease_s)
  values (
    (request ->> 'worker_id')::uuid, app.worker_tenant(), left(request ->> 'host', 255), (request ->> 'pid')::integer,
    left(request ->> 'version', 100), array(select t from json_array_elements_text(request -> 'types') t),
    coalesce((request ->> 'slots')::integer, 1), v_lease);
  return json_build_object('lease_s', v_lease);
exception
  when unique_violation then
    raise exception 'worker id % is taken', request ->> 'worker_id' using errcode = 'FF003', hint = 'make a fresh UUID at each start';
end $$;
grant execute on function app.register_worker(json) to fanfold_worker, fanfold_admin;
