-- The (tenant, type, priority) pools with work due now, found by hopping through the index: tenants after the one served
-- last come first. Each hop is one index probe, whatever the number of rows behind it.
create or replace function app.runnable_pools(types text[], after_tenant text, only_tenant text)
returns app.ready_pool[]
language plpgsql stable
as $$
declare
  c_tenants constant integer := 64;
  v_pools app.ready_pool[] := '{}'::app.ready_pool[];
  v_type text;
  v_tenant text;
  v_head app.ready;
  v_seen integer;
  v_wrapped boolean;
begin
  foreach v_type in array types loop
    v_tenant := coalesce(only_tenant, after_tenant);
    v_seen := 0;
    v_wrapped := only_tenant is not null;
    loop
      if only_tenant is null then
        select r.tenant_id into v_tenant
          from app.ready r
         where r.task_type = v_type and r.tenant_id > v_tenant
         order by r.tenant_id
         limit 1;
        if v_tenant is null or v_seen >= c_tenants then
          exit when v_wrapped or v_seen >= c_tenants;
          v_wrapped := true;
          v_tenant := '';
          continue;
        end if;
        exit when v_wrapped and v_tenant > after_tenant;
      end if;
      v_seen := v_seen + 1;
      v_head := null;
      loop
        if v_head is null then
          select * into v_head
            from app.ready r
           where r.task_type = v_type and r.tenant_id = v_tenant
           order by r.priority desc, r.run_at, r.ready_id
           limit 1;
        else
          select * into v_head
            from app.ready r
           where r.task_type = v_type and r.tenant_id = v_tenant and r.priority < v_head.priority
           order by r.priority desc, r.run_at, r.ready_id
           limit 1;
        end if;
        exit when not found;
        if v_head.run_at <= now() then
          v_pools := v_pools || (v_tenant, v_type, v_head.priority, v_head.run_at)::app.ready_pool;
        end if;
      end loop;
      exit when only_tenant is not null;
    end loop;
  end loop;
  if cardinality(v_pools) < 2 then
    return v_pools;
  end if;
  return array(
    select (p.tenant_id, p.task_type, p.priority, p.run_at)::app.ready_pool
      from unnest(v_pools) p
     order by p.tenant_id <= after_tenant, p.tenant_id, p.priority desc, p.run_at);
end $$;
