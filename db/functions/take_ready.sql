-- Takes up to `want` ordinals of one tenant from the front of its ready ranges, most urgent first. `touched`: it locked rows,
-- taken or not. `memory`: of the types it names no more than fit, with what was taken before; see claim. Rows are fetched as they are needed, so that a wide range at the front does not lock the hundreds behind it.
create or replace function app.take_ready(
  pools app.ready_pool[], tenant text, want bigint, budget bigint, bytes bigint, may_wait boolean, memory jsonb,
  inout taken app.taken_range[], out left_over bigint, out bytes_left bigint, out touched boolean)
language plpgsql
as $$
declare
  -- So many rows of closed and paused stages are put out of the way per call, and no more: others wait for the stage.
  c_aside constant integer := 500;
  v_aside integer := 0;
  v_pool app.ready_pool;
  v_row app.ready;
  v_take bigint;
  v_stage app.stages;
  v_stopped boolean;
  v_allowance bigint;
  v_need bigint;
  v_fitting bigint;
  v_full bigint[] := '{}'::bigint[];
  v_gone bigint[] := '{}'::bigint[];
  v_cursor refcursor;
begin
  left_over := budget;
  bytes_left := bytes;
  touched := false;
  foreach v_pool in array pools loop
    continue when v_pool.tenant_id <> tenant;
    exit when want <= 0 or bytes_left <= 0;
    v_need := (memory -> 'needs' ->> v_pool.task_type)::bigint;
    v_fitting := case when v_need > 0 then app.room_left(memory, taken) / v_need end;
    continue when v_fitting <= 0;
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
      exit when want <= 0 or bytes_left <= 0 or v_fitting <= 0;
      fetch v_cursor into v_row;
      exit when not found;
      touched := true;
      if v_row.stage_id is distinct from v_stage.stage_id then
        select * into v_stage from app.stages s where s.stage_id = v_row.stage_id;
        v_stopped := v_stage.closed_at is not null or v_stage.paused;
        v_allowance := case
          when v_row.lo < 0 or v_stage.max_parallel is null or v_stage.total <= v_stage.max_parallel then 9223372036854775807
          else app.stage_allowance(v_stage, taken)
        end;
      end if;
      if v_stopped then
        -- Left behind by a cancel that found the row locked, or of a paused job.
        if v_stage.closed_at is not null then
          v_gone := v_gone || v_row.ready_id;
        else
          perform app.park(v_row);
        end if;
        v_aside := v_aside + 1;
        exit when v_aside >= c_aside;
        continue;
      end if;
      -- What has taken a worker down before travels alone, so that it cannot take its neighbours with it again.
      continue when v_row.crashes > 0 and cardinality(taken) > 0;
      v_take := least(v_row.hi - v_row.lo, want, v_allowance, v_fitting, greatest(1, bytes_left / greatest(v_row.task_bytes, 1)));
      if v_row.crashes > 0 then
        v_take := least(v_take, 1);
      end if;
      if v_take <= 0 then
        -- Its other rows are passed over without being locked.
        v_full := v_full || v_stage.stage_id;
        close v_cursor;
        open v_cursor for
          select * from app.ready r
           where r.task_type = v_pool.task_type and r.tenant_id = tenant and r.priority = v_pool.priority and r.run_at <= now()
             and r.stage_id <> all (v_full)
             and (r.run_at, r.ready_id) > (v_row.run_at, v_row.ready_id)
           order by r.run_at, r.ready_id
           for update skip locked;
        continue;
      end if;
      if v_take = v_row.hi - v_row.lo then
        v_gone := v_gone || v_row.ready_id;
      else
        update app.ready set lo = lo + v_take where ready_id = v_row.ready_id;
      end if;
      taken := taken || (v_row.stage_id, v_row.lo, v_row.lo + v_take, tenant, v_row.task_type, v_row.priority,
        v_row.attempt, v_row.crashes, v_row.throttles, v_row.task_bytes)::app.taken_range;
      v_allowance := v_allowance - v_take;
      v_fitting := v_fitting - v_take;
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
