-- A worker tells the job types that it has in code: the newest telling counts. For its own tenant, or for all where it serves all.
create or replace function app.register_blueprints(blueprints jsonb)
returns integer
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := coalesce(app.worker_tenant(), '');
  v_changed integer;
begin
  if jsonb_typeof(blueprints) is distinct from 'array' or jsonb_array_length(blueprints) > 1000 then
    raise exception 'a worker has at most 1000 job types' using errcode = 'FF002';
  end if;
  perform app.refuse_problems('the blueprint ' || coalesce(b ->> 'type', ''), app.blueprint_problems(b)) from jsonb_array_elements(blueprints) b;
  -- Those that start together write in one order, and those that bring nothing new write nothing.
  insert into app.registered_blueprints as r (tenant_id, job_type, blueprint)
  select v_tenant, b ->> 'type', b
    from jsonb_array_elements(blueprints) b
   where not exists (
     select from app.registered_blueprints k where k.tenant_id = v_tenant and k.job_type = b ->> 'type' and k.blueprint = b)
   order by b ->> 'type'
  on conflict (tenant_id, job_type) do update set blueprint = excluded.blueprint, registered_at = now();
  get diagnostics v_changed = row_count;
  return v_changed;
end $$;
grant execute on function app.register_blueprints(jsonb) to fanfold_worker, fanfold_admin;
