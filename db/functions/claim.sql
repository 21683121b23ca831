-- Takes up to `limit` runnable tasks for a worker: fair between tenants, by priority within one, in turns between its jobs of one priority.
-- request: {worker_id, types, limit, after_tenant, turns?: {tenant: where on its ring to go on}, bytes?,
-- known?: [stage ids whose facts the worker has], no_wait?: [tenants for whose locked rows it shall not wait],
-- memory?: {room, needs: {type: MB}}: of these types no more than fit into the room together}.
-- Reply: {claims, stages, after_tenant, turns?, shared?: it is full, and jobs or tenants share it,
-- held?: [tenants for whose rows it waited in vain], kept_out?: [types that have work due and no room]}; see src/engine/commands.ts.
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
  v_found record;
  v_pools app.ready_pool[];
  v_tenants text[];
  v_state app.taking;
  v_capped boolean := exists (select from app.limits l where l.concurrent_tasks is not null);
  v_allowance bigint := 9223372036854775807;
  v_share bigint;
  v_tenant text;
  v_served text := request ->> 'after_tenant';
  v_turns jsonb := '{}'::jsonb;
  v_claims bigint[];
  v_memory jsonb := (request -> 'memory')::jsonb;
  v_held text[];
begin
  perform set_config('synchronous_commit', 'off', true);
  perform app.assert_live_worker(v_worker, v_only_tenant);
  v_found := app.runnable_pools(v_types, coalesce(v_served, ''), v_only_tenant, v_limit);
  v_pools := v_found.pools;
  if cardinality(v_pools) = 0 then
    return json_build_object('claims', '[]'::json, 'stages', '[]'::json, 'after_tenant', coalesce(v_found.scanned, v_served));
  end if;
  -- Pools come in the order in which tenants are to be served, each tenant's by priority.
  if cardinality(v_pools) = 1 then
    v_tenants := array[v_pools[1].tenant_id];
  else
    select array_agg(t.tenant_id order by t.first) into v_tenants
      from (select p.tenant_id, min(p.position) as first from unnest(v_pools) with ordinality p(tenant_id, task_type, priority, run_at, turn, position) group by 1) t;
  end if;
  v_state := ('{}', 0, coalesce((request ->> 'bytes')::bigint, 4194304), v_found.promoted, cardinality(v_tenants) > 1, null);
  -- Round 1: to each its share. Round 2: what is left, to whoever has more.
  for v_round in 1 .. 2 loop
    v_share := case when v_round = 1 then (v_limit + cardinality(v_tenants) - 1) / cardinality(v_tenants) else v_limit end;
    foreach v_tenant in array v_tenants loop
      exit when v_state.tasks >= v_limit or v_state.bytes <= 0;
      if v_capped then
        v_allowance := app.tenant_allowance(v_tenant, v_state.taken);
        if v_allowance <= 0 then
          -- It had its turn: the next claim starts behind it.
          v_served := v_tenant;
          continue;
        end if;
      end if;
      v_state.turn := coalesce((v_turns ->> v_tenant)::bigint, (request -> 'turns' ->> v_tenant)::bigint);
      v_state := app.take_of_tenant(v_pools, v_tenant, least(v_share, v_limit - v_state.tasks, v_allowance), v_memory, v_state);
      if v_state.turn is not null then
        v_turns := v_turns || jsonb_build_object(v_tenant, v_state.turn);
      end if;
      if v_round = 1 then
        v_served := v_tenant;
      end if;
    end loop;
    -- A tenant that is alone has had all of it.
    exit when v_state.tasks >= v_limit or v_state.bytes <= 0 or (cardinality(v_tenants) = 1 and v_state.tasks > 0);
  end loop;
  -- Waiting would take without counting.
  if not v_state.touched and not v_capped then
    v_found := app.wait_for_ready(v_pools, array(
      select u.t from unnest(v_tenants) with ordinality u(t, place)
       where u.t <> all (array(select json_array_elements_text(request -> 'no_wait'))) order by u.place), v_limit, v_memory, v_state);
    v_state := v_found.state;
    v_held := v_found.held;
  end if;
  if v_state.tasks = 0 then
    return json_build_object('claims', '[]'::json, 'stages', '[]'::json, 'after_tenant', v_served, 'turns', v_turns,
      'held', array_to_json(coalesce(v_held, '{}')), 'kept_out', app.kept_out(v_pools, v_state.taken, v_memory));
  end if;

  with made as (
    insert into app.claims (stage_id, worker_id, tenant_id, task_type, priority, attempt, crashes, throttles, task_bytes, held)
    select r.stage_id, v_worker, r.tenant_id, r.task_type, r.priority, r.attempt, r.crashes, r.throttles, max(r.task_bytes),
      range_agg(int8range(r.lo, r.hi))
      from unnest(v_state.taken) with ordinality as r(
        stage_id, lo, hi, tenant_id, task_type, priority, attempt, crashes, throttles, task_bytes, position)
     group by r.stage_id, r.tenant_id, r.task_type, r.priority, r.attempt, r.crashes, r.throttles
     -- A worker starts them in this order: small work is not behind wide.
     order by min(r.position)
    returning claim_id
  )
  select array_agg(claim_id) into v_claims from made;
  perform app.mark_started(array(select distinct r.stage_id from unnest(v_state.taken) r where r.lo <= 0 and r.attempt = 1));
  return app.claimed_work(v_claims, v_served, array(select k::bigint from json_array_elements_text(coalesce(request -> 'known', '[]')) k),
    app.kept_out(v_pools, v_state.taken, v_memory), v_turns, v_state.shared and v_state.tasks >= v_limit);
end $$;
grant execute on function app.claim(json) to fanfold_worker, fanfold_admin;
