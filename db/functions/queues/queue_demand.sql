-- How much work there is for workers of these types (all, where none are named; `raster.*` is all that begin so), of one tenant or of everybody:
-- what is due, what runs, the slots of the workers that live, and how many workers with so many slots it would keep busy. For autoscalers:
-- what nobody knows counts as nothing. A queue of more ranges than it reads is long enough for every worker there may be.
create or replace function app.queue_demand(types text default null, slots integer default 8, everybody boolean default false, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  c_ranges constant integer := 100000;
  v_tenant constant text := case when everybody then null else app.acting_tenant(tenant) end;
  v_patterns text[] := string_to_array(nullif(types, ''), ',');
  v_due bigint;
  v_running bigint;
  v_slots bigint;
begin
  if everybody then
    perform app.assert_server('measure the work of all tenants');
  end if;
  if slots not between 1 and 10000 then
    raise exception 'a worker has 1 to 10000 slots, not %', slots using errcode = 'FF002';
  end if;
  select coalesce(sum(r.hi - r.lo), 0) into v_due
    from (
      select k.hi, k.lo from app.ready k
       where k.run_at <= now() and (v_tenant is null or k.tenant_id = v_tenant) and app.is_of_types(k.task_type, v_patterns)
         and not exists (select from app.paused_types p where p.tenant_id = k.tenant_id and p.task_type = k.task_type)
         and not exists (select from app.stages s where s.stage_id = k.stage_id and s.paused)
       limit c_ranges
    ) r;
  select coalesce(sum(app.held_count(c.held)), 0) into v_running
    from app.claims c
   where (v_tenant is null or c.tenant_id = v_tenant) and app.is_of_types(c.task_type, v_patterns);
  select coalesce(sum(w.slots), 0) into v_slots
    from app.workers w
   where w.status = 'live' and w.draining_at is null and app.is_alive(w) and (v_tenant is null or w.tenant_id is null or w.tenant_id = v_tenant)
     and exists (select from unnest(w.types) t where app.is_of_types(t, v_patterns));
  return json_build_object('due', v_due, 'running', v_running, 'slots', v_slots,
    'wanted_workers', ceil((v_due + v_running)::numeric / queue_demand.slots)::bigint);
end $$;
grant execute on function app.queue_demand(text, integer, boolean, text) to fanfold_api, fanfold_admin;
