-- The tenants of pools, each once, in the order in which they come.
create or replace function app.tenants_of_pools(pools app.ready_pool[])
returns text[]
language plpgsql immutable
as $$
begin
  if cardinality(pools) = 1 then
    return array[pools[1].tenant_id];
  end if;
  return array(
    select p.tenant_id
      from unnest(pools) with ordinality p(tenant_id, task_type, priority, run_at, turn, position)
     group by p.tenant_id
     order by min(p.position));
end $$;
