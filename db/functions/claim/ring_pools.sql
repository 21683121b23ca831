-- The jobs on the ring of a tenant that have work due in these pools of one priority: those after `after`, then round to it, at most `most`
-- of them, in order; a job with work of several types has one entry for each, next to each other. Each hop is one index probe, whatever the
-- number of rows behind it. `complete`: these are all.
create or replace function app.ring_pools(pools app.ready_pool[], after bigint, most bigint, out ring app.ready_pool[], out complete boolean)
language plpgsql
as $$
declare
  c_ring constant bigint := 4503599627370496;
  v_pool app.ready_pool;
  v_turn bigint;
  v_wrapped boolean;
  v_found integer;
begin
  ring := '{}'::app.ready_pool[];
  complete := true;
  foreach v_pool in array pools loop
    v_turn := greatest(after, c_ring - 1);
    v_wrapped := v_turn < c_ring;
    v_found := 0;
    loop
      select r.turn into v_turn
        from app.ready r
       where r.task_type = v_pool.task_type and r.tenant_id = v_pool.tenant_id and r.priority = v_pool.priority and r.turn > v_turn
       order by r.turn
       limit 1;
      if v_turn is null then
        exit when v_wrapped;
        v_wrapped := true;
        v_turn := c_ring - 1;
        continue;
      end if;
      exit when v_wrapped and v_turn > after and after >= c_ring;
      if v_found >= most then
        complete := false;
        exit;
      end if;
      v_pool.turn := v_turn;
      ring := ring || v_pool;
      v_found := v_found + 1;
    end loop;
  end loop;
  if cardinality(pools) > 1 and cardinality(ring) > 1 then
    select array_agg((p.tenant_id, p.task_type, p.priority, p.run_at, p.turn)::app.ready_pool order by p.place) filter (where p.place <= most),
        complete and max(p.place) <= most
      into ring, complete
      from (select q.*, dense_rank() over (order by q.turn <= after, q.turn) as place from unnest(ring) q) p;
  end if;
end $$;
