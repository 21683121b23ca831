-- Takes up to `most` tasks where several ranges wait: fair between tenants, by priority within one. `pools` are in the order in which tenants are
-- to be served, each tenant's by priority. `served`: behind this tenant the next claim starts. `turns`: where on the rings of tenants. See claim.
-- What the worker holds of a tenant already counts: a tenant that has nothing there comes before one that has all of its slots.
create or replace function app.take_fairly(
  types text[], only_tenant text, most bigint, capped boolean, planning text[], request json, inout state app.taking, out pools app.ready_pool[], out served text,
  out turns jsonb)
language plpgsql
as $$
declare
  v_memory jsonb := (request -> 'memory')::jsonb;
  v_found record;
  v_tenants text[];
  v_tenant text;
  v_holding jsonb := coalesce((request -> 'holding')::jsonb, '{}'::jsonb);
  v_share bigint;
  v_equal bigint;
  v_allowance bigint := 9223372036854775807;
begin
  served := request ->> 'after_tenant';
  turns := '{}'::jsonb;
  v_found := app.runnable_pools(types, coalesce(served, ''), only_tenant, most, planning,
    array(select json_array_elements_text(request -> 'resting')));
  pools := v_found.pools;
  if cardinality(pools) = 0 then
    served := coalesce(v_found.scanned, served);
    return;
  end if;
  v_tenants := app.tenants_of_pools(pools);
  state.touched := v_found.promoted;
  state.shared := cardinality(v_tenants) > 1;
  v_equal := (
    select most + coalesce(sum((v_holding ->> t)::bigint), 0)::bigint + cardinality(v_tenants) - 1 from unnest(v_tenants) t) / cardinality(v_tenants);
  -- In round 1 each tenant gets its share. In round 2 the tenants that have more get what is left.
  for v_round in 1 .. 2 loop
    foreach v_tenant in array v_tenants loop
      exit when state.tasks >= most or state.bytes <= 0;
      if capped then
        v_allowance := app.tenant_allowance(v_tenant, state.taken);
        if v_allowance <= 0 then
          -- It had its turn: the next claim starts behind it.
          served := v_tenant;
          continue;
        end if;
      end if;
      v_share := case when v_round = 1 then v_equal - coalesce((v_holding ->> v_tenant)::bigint, 0) else most end;
      continue when v_share <= 0;
      state.turn := coalesce((turns ->> v_tenant)::bigint, (request -> 'turns' ->> v_tenant)::bigint);
      state := app.take_of_tenant(pools, v_tenant, least(v_share, most - state.tasks, v_allowance), v_memory, state);
      if state.turn is not null then
        turns := turns || jsonb_build_object(v_tenant, state.turn);
      end if;
      if v_round = 1 then
        served := v_tenant;
      end if;
    end loop;
    -- A tenant that is alone has had all of it.
    exit when state.tasks >= most or state.bytes <= 0 or (cardinality(v_tenants) = 1 and state.tasks > 0);
  end loop;
end $$;
