-- Takes up to `want` tasks of a tenant from its pools of one priority, its jobs in turns: half of them small work, oldest first, half from the
-- ring, where each job gives an equal share; what one of them cannot give the others do. So neither do small jobs wait for wide ones, nor
-- the other way round, and a job has one turn however many stages it has open and tasks to retry.
create or replace function app.take_turns(pools app.ready_pool[], want bigint, memory jsonb, inout state app.taking)
language plpgsql
as $$
declare
  c_ring constant bigint := 4503599627370496;
  -- Jobs looked at together, and how often: most of many may be at their max_parallel.
  c_jobs constant integer := 64;
  c_rounds constant integer := 8;
  v_pool app.ready_pool;
  v_small app.ready_pool[] := '{}'::app.ready_pool[];
  v_ring app.ready_pool[];
  v_complete boolean;
  v_more app.ready_pool[];
  v_goal bigint := state.tasks + want;
  v_until bigint;
  v_jobs integer;
  v_turn bigint;
  v_before bigint;
begin
  foreach v_pool in array pools loop
    if v_pool.turn < c_ring then
      v_small := v_small || v_pool;
    end if;
  end loop;
  select f.ring, f.complete into v_ring, v_complete from app.ring_pools(pools, state.turn, least(want, c_jobs)) f;
  for v_round in 1 .. c_rounds loop
    v_jobs := case when cardinality(v_ring) <= 1 then cardinality(v_ring) else (select count(distinct p.turn) from unnest(v_ring) p) end;
    state.shared := state.shared or v_jobs > 1 or not v_complete or (v_jobs = 1 and v_small <> '{}');
    -- Of an odd number the one more goes to either, by chance: a worker with one slot asks for one at a time.
    v_until := case when v_round > 1 or v_jobs = 0 then v_goal else state.tasks + (v_goal - state.tasks + (random() < 0.5)::integer) / 2 end;
    v_more := '{}'::app.ready_pool[];
    foreach v_pool in array v_small loop
      exit when state.tasks >= v_until or state.bytes <= 0;
      v_before := state.tasks;
      state := app.take_ready(v_pool, v_until - v_before, false, memory, state);
      if state.tasks > v_before then
        v_more := v_more || v_pool;
      end if;
    end loop;
    if state.tasks < v_until then
      v_small := v_more;
    end if;
    v_more := '{}'::app.ready_pool[];
    v_turn := null;
    v_until := state.tasks;
    foreach v_pool in array v_ring loop
      exit when state.tasks >= v_goal or state.bytes <= 0;
      if v_pool.turn is distinct from v_turn then
        v_turn := v_pool.turn;
        v_until := state.tasks + (v_goal - state.tasks + v_jobs - 1) / v_jobs;
        v_jobs := v_jobs - 1;
      end if;
      v_before := state.tasks;
      if v_until > v_before then
        state := app.take_ready(v_pool, v_until - v_before, false, memory, state);
      end if;
      if state.tasks >= v_until then
        v_more := v_more || v_pool;
      end if;
    end loop;
    if v_round = 1 and (cardinality(v_ring) > 1 or not v_complete) then
      -- Where all were served, whoever came first comes last the next time.
      state.turn := case when v_complete and v_jobs = 0 then v_ring[1].turn else coalesce(v_turn, state.turn) end;
    end if;
    exit when state.tasks >= v_goal or state.bytes <= 0;
    v_ring := v_more;
    if cardinality(v_ring) = 0 and not v_complete then
      select f.ring, f.complete into v_ring, v_complete from app.ring_pools(pools, v_turn, c_jobs) f;
      state.turn := v_turn;
    end if;
    exit when cardinality(v_ring) + cardinality(v_small) = 0;
  end loop;
end $$;
