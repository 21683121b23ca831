-- Takes up to `want` ordinals of one tenant from the front of its ready ranges, most urgent first.
-- The loop fetches rows as it needs them, so that a wide range at the front does not lock the hundreds of rows behind it.
create or replace function app.take_ready(
  pools app.ready_pool[], tenant text, want bigint, budget bigint, bytes bigint, may_wait boolean,
  inout taken app.taken_range[], out left_over bigint, out bytes_left bigint)
language plpgsql
as $$
declare
  v_pool app.ready_pool;
  v_row app.ready;
  v_take bigint;
  v_full bigint[] := '{}'::bigint[];
  v_unlimited bigint := 0;
  v_stage app.stages;
  v_gone bigint[] := '{}'::bigint[];
  v_cursor refcursor;
begin
  left_over := budget;
  bytes_left := bytes;
  foreach v_pool in array pools loop
    continue when v_pool.tenant_id <> tenant;
    exit when want <= 0 or bytes_left <= 0;
    if may_wait then
      open v_cursor for
        select * from app.ready r
         where r.task_type = v_pool.task_type and r.tenant_id = tenant and r.priority = v_pool.priority and r.run_at <= now()
         order by r.run_at, r.ready_id limit 1
         for update;
    else
      open v_cursor for
        select * from app.ready r
         where r.task_type = v_pool.task_type and r.tenant_id = tenant and r.priority = v_pool.priority and r.run_at <= now()
         order by r.run_at, r.ready_id
         for update skip locked;
    end if;
    loop
      exit when want <= 0 or bytes_left <= 0;
      fetch v_cursor into v_row;
      exit when not found;
      continue when v_row.stage_id = any (v_full);
      v_take := least(v_row.hi - v_row.lo, want, greatest(1, bytes_left / greatest(v_row.task_bytes, 1)));
      -- What has taken a worker down before travels alone, so that it cannot take its neighbours with it again.
      if v_row.crashes > 0 then
        v_take := 1;
      end if;
      if v_row.stage_id <> v_unlimited then
        select * into v_stage from app.stages s where s.stage_id = v_row.stage_id;
        if v_stage.closed_at is not null then
          -- Left behind by a cancel that found the row locked.
          v_gone := v_gone || v_row.ready_id;
          continue;
        elsif v_stage.max_parallel is null or v_row.lo < 0 then
          v_unlimited := v_row.stage_id;
        else
          v_take := least(v_take, app.stage_allowance(v_stage, taken));
        end if;
      end if;
      if v_take <= 0 then
        v_full := v_full || v_row.stage_id;
        continue;
      end if;
      if v_take = v_row.hi - v_row.lo then
        v_gone := v_gone || v_row.ready_id;
      else
        update app.ready set lo = lo + v_take where ready_id = v_row.ready_id;
      end if;
      taken := taken || (v_row.stage_id, v_row.lo, v_row.lo + v_take, tenant, v_row.task_type, v_row.priority,
        v_row.attempt, v_row.crashes, v_row.throttles, v_row.task_bytes)::app.taken_range;
      want := want - v_take;
      left_over := left_over - v_take;
      bytes_left := bytes_left - v_take * v_row.task_bytes;
      if v_row.crashes > 0 then
        want := 0;
        left_over := 0;
      end if;
    end loop;
    close v_cursor;
  end loop;
  if v_gone <> '{}' then
    delete from app.ready where ready_id = any (v_gone);
  end if;
end $$;
