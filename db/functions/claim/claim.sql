-- Takes up to `limit` runnable tasks for a worker: fair between tenants, by priority within one, in turns between its jobs of one priority.
-- request: {worker_id, types, limit, after_tenant, turns?: {tenant: where on its ring to go on}, bytes?,
-- known?: [stage ids whose facts the worker has], no_wait?: [tenants for whose locked rows it shall not wait],
-- holding?: {tenant: tasks it holds already, which count towards the tenant's share}, planning?: [tenants it makes a data plan for],
-- resting?: [tenants of which nothing is taken now],
-- memory?: {room, needs: {type: MB}}: of these types no more than fit into the room together}.
-- Reply: {claims, stages, after_tenant, turns?, shared?: it is full, and jobs or tenants share it,
-- held?: [tenants for whose rows it waited in vain], kept_out?: [types that have work due and no room]}; see src/engine/work/commands.ts.
-- A claimer never waits while it holds anything: it skips locked rows, and only when that leaves it with nothing at all
-- does it wait for one row. A claim lost in a crash is only a second run, so its commit need not wait for the disk.
create or replace function app.claim(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_worker uuid := (request ->> 'worker_id')::uuid;
  v_limit bigint := least(greatest((request ->> 'limit')::bigint, 1), 10000);
  v_types text[] := array(select t from json_array_elements_text(request -> 'types') t);
  v_only_tenant text := app.worker_tenant();
  v_memory jsonb := (request -> 'memory')::jsonb;
  v_planning text[] := array(select json_array_elements_text(request -> 'planning'));
  v_capped boolean := exists (select from app.limits l where l.concurrent_tasks is not null);
  v_pools app.ready_pool[];
  v_served text := request ->> 'after_tenant';
  v_turns jsonb := '{}'::jsonb;
  v_state app.taking := ('{}', 0, coalesce((request ->> 'bytes')::bigint, 4194304), false, false, null);
  v_found record;
  v_held text[] := '{}'::text[];
begin
  perform set_config('synchronous_commit', 'off', true), app.assert_live_worker(v_worker, v_only_tenant);
  v_pools := case when not v_capped and request -> 'resting' is null then app.only_pool(v_types, v_only_tenant, v_planning) end;
  if cardinality(v_pools) = 1 then
    v_served := v_pools[1].tenant_id;
    -- Where its jobs' turns go on is not changed by one of them.
    v_turns := jsonb_strip_nulls(jsonb_build_object(v_served, (request -> 'turns' ->> v_served)::bigint));
    v_state := app.take_ready(v_pools[1], v_limit, false, v_memory, v_state);
  elsif v_pools is null then
    v_found := app.take_fairly(v_types, v_only_tenant, v_limit, v_capped, v_planning, request, v_state);
    v_state := v_found.state;
    v_pools := v_found.pools;
    v_served := v_found.served;
    v_turns := v_found.turns;
  end if;
  -- Waiting would take without counting.
  if not v_state.touched and not v_capped and cardinality(v_pools) > 0 then
    v_found := app.wait_for_ready(v_pools, array(select json_array_elements_text(request -> 'no_wait')), v_limit, v_memory, v_state);
    v_state := v_found.state;
    v_held := v_found.held;
  end if;
  if v_state.tasks > 0 then
    v_found := app.hold_taken(v_worker, v_state.taken, array(select k::bigint from json_array_elements_text(coalesce(request -> 'known', '[]')) k));
  else
    select '[]'::json as claims, '[]'::json as stages into v_found;
  end if;
  return json_build_object(
    'claims', v_found.claims, 'stages', v_found.stages, 'after_tenant', v_served, 'turns', v_turns, 'held', array_to_json(v_held),
    'shared', v_state.shared and v_state.tasks >= v_limit, 'kept_out', app.kept_out(v_pools, v_state.taken, v_memory));
end $$;
grant execute on function app.claim(json) to fanfold_worker, fanfold_admin;
