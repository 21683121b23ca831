-- The (tenant, type, priority) pools with work due now, found by hopping through the index: tenants after the one served
-- last come first. Each hop is one index probe, whatever the number of rows behind it. Tenants whose work is all due later are
-- hopped over; when that becomes too many, `scanned` is where the next claim goes on. `turn` of a pool is the first in it. What has
-- become due takes its place on the way; `promoted`: that was so, and locks are held. `planning`, `resting`: see claim.
create or replace function app.runnable_pools(
  types text[], after_tenant text, only_tenant text, most_tenants bigint, planning text[], resting text[], out pools app.ready_pool[], out scanned text, out promoted boolean)
language plpgsql
as $$
declare
  c_hops constant integer := 500;
  c_priorities constant integer := 16;
  v_type text;
  v_tenant text;
  v_head app.ready;
  v_pool app.ready_pool;
  v_found integer;
  v_hops integer;
  v_last_found integer;
  v_wrapped boolean;
  v_pauses boolean := exists (select from app.paused_types);
  v_moves boolean := exists (select from app.moving_tenants);
  v_paused boolean;
begin
  pools := '{}'::app.ready_pool[];
  promoted := false;
  foreach v_type in array types loop
    v_tenant := coalesce(only_tenant, after_tenant);
    v_found := 0;
    v_hops := 0;
    v_last_found := 0;
    v_wrapped := only_tenant is not null;
    loop
      if only_tenant is null then
        select r.tenant_id into v_tenant
          from app.ready r
         where r.task_type = v_type and r.tenant_id > v_tenant
         order by r.tenant_id
         limit 1;
        if v_tenant is null then
          exit when v_wrapped;
          v_wrapped := true;
          v_tenant := '';
          continue;
        end if;
        exit when v_wrapped and v_tenant > after_tenant;
      end if;
      v_hops := v_hops + 1;
      -- A type that is paused for this tenant is hopped over, like work that is due later, and a tenant that moves to another cell.
      -- So are further data plans of a tenant for which the worker makes one: another worker has the time.
      v_paused := v_tenant = any (resting) or (v_type = '#plan' and v_tenant = any (planning))
        or (v_pauses and exists (select from app.paused_types z where z.tenant_id = v_tenant and z.task_type = v_type))
        or (v_moves and exists (select from app.moving_tenants m where m.tenant = v_tenant));
      v_head := null;
      for v_priorities in 1 .. c_priorities loop
        exit when v_paused;
        if v_head is null then
          select * into v_head
            from app.ready r
           where r.task_type = v_type and r.tenant_id = v_tenant
           order by r.priority desc, r.turn, r.run_at, r.ready_id
           limit 1;
        else
          select * into v_head
            from app.ready r
           where r.task_type = v_type and r.tenant_id = v_tenant and r.priority < v_head.priority
           order by r.priority desc, r.turn, r.run_at, r.ready_id
           limit 1;
        end if;
        exit when not found;
        v_pool := (v_tenant, v_type, v_head.priority, v_head.run_at, v_head.turn);
        if v_head.turn < 0 then
          if v_head.run_at <= now() then
            perform app.promote_due(v_pool);
            promoted := true;
          end if;
          select r.run_at, r.turn into v_pool.run_at, v_pool.turn
            from app.ready r
           where r.task_type = v_type and r.tenant_id = v_tenant and r.priority = v_head.priority and r.turn >= 0
           order by r.turn, r.run_at, r.ready_id
           limit 1;
          continue when not found;
        end if;
        pools := pools || v_pool;
        v_last_found := v_hops;
      end loop;
      if v_last_found = v_hops then
        v_found := v_found + 1;
      end if;
      exit when only_tenant is not null or v_found >= least(most_tenants, 64);
      if v_hops >= c_hops then
        scanned := v_tenant;
        exit;
      end if;
    end loop;
  end loop;
  if cardinality(pools) > 1 then
    pools := array(
      select (p.tenant_id, p.task_type, p.priority, p.run_at, p.turn)::app.ready_pool
        from unnest(pools) p
       order by p.tenant_id <= after_tenant, p.tenant_id, p.priority desc, p.turn, p.run_at);
  end if;
end $$;
