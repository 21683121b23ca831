-- Takes up to `want` tasks of a tenant, the higher priority first, its jobs of one priority in turns. `pools` are sorted by priority.
create or replace function app.take_of_tenant(pools app.ready_pool[], tenant text, want bigint, memory jsonb, inout state app.taking)
language plpgsql
as $$
declare
  v_goal bigint := state.tasks + want;
  v_pool app.ready_pool;
  v_priority smallint;
begin
  if cardinality(pools) = 1 then
    state := app.take_turns(pools, want, memory, state);
    return;
  end if;
  foreach v_pool in array pools loop
    exit when state.tasks >= v_goal or state.bytes <= 0;
    if v_pool.tenant_id = tenant and v_pool.priority is distinct from v_priority then
      v_priority := v_pool.priority;
      state := app.take_turns(array(select p from unnest(pools) p where p.tenant_id = tenant and p.priority = v_priority), v_goal - state.tasks, memory, state);
    end if;
  end loop;
end $$;
