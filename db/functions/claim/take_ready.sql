-- Takes up to `want` ordinals from the front of one pool: a tenant's small work of a type, or what one job on the ring has of it. See claim.
-- `memory`: of the types it names no more than fit, with what was taken before. Rows are fetched as they are needed, so that a wide range at
-- the front does not lock the hundreds behind it. Where several ranges of small work wait, each gives its share and goes to the end.
create or replace function app.take_ready(pool app.ready_pool, want bigint, may_wait boolean, memory jsonb, inout state app.taking)
language plpgsql
as $$
declare
  c_ring constant bigint := 4503599627370496;
  -- So many rows of closed and paused stages are put out of the way per call, and no more: others wait for the stage.
  c_aside constant integer := 500;
  -- Into so many shares a claim is cut at most: large claims are for short tasks, and slivers of many ranges would cost more than they are worth.
  c_shares constant integer := 64;
  v_small boolean := pool.turn < c_ring;
  v_to bigint := case when v_small then c_ring - 1 else pool.turn end;
  v_aside integer := 0;
  v_row app.ready;
  v_take bigint;
  v_waiting bigint;
  v_share bigint;
  v_stage app.stages;
  v_stopped boolean;
  v_allowance bigint;
  v_need bigint := (memory -> 'needs' ->> pool.task_type)::bigint;
  v_fitting bigint;
  v_full bigint[] := '{}'::bigint[];
  v_gone bigint[] := '{}'::bigint[];
  v_new app.taken_range[] := '{}'::app.taken_range[];
  v_cursor refcursor;
begin
  if pool.task_type = '#plan' then
    -- A worker makes the data plans of a tenant one after the other.
    if exists (select from unnest(state.taken) t where t.task_type = pool.task_type and t.tenant_id = pool.tenant_id) then
      return;
    end if;
    want := least(want, 1);
  end if;
  if v_need > 0 then
    v_fitting := app.room_left(memory, state.taken) / v_need;
    if v_fitting <= 0 then
      return;
    end if;
  end if;
  v_row.turn := case when v_small then 0 else pool.turn end;
  v_row.run_at := '-infinity';
  v_row.ready_id := 0;
  loop
    if v_cursor is null and may_wait then
      open v_cursor for
        select * from app.ready r
         where r.task_type = pool.task_type and r.tenant_id = pool.tenant_id and r.priority = pool.priority
           and (r.turn, r.run_at, r.ready_id) > (v_row.turn, v_row.run_at, v_row.ready_id) and r.turn <= v_to and r.run_at <= now()
         order by r.turn, r.run_at, r.ready_id limit 1
         for update;
    elsif v_cursor is null then
      open v_cursor for
        select * from app.ready r
         where r.task_type = pool.task_type and r.tenant_id = pool.tenant_id and r.priority = pool.priority
           and (r.turn, r.run_at, r.ready_id) > (v_row.turn, v_row.run_at, v_row.ready_id) and r.turn <= v_to and r.run_at <= now()
           and r.stage_id <> all (v_full)
         order by r.turn, r.run_at, r.ready_id
         for update skip locked;
    end if;
    fetch v_cursor into v_row;
    exit when not found;
    state.touched := true;
    if v_row.stage_id is distinct from v_stage.stage_id then
      select * into v_stage from app.stages s where s.stage_id = v_row.stage_id;
      v_stopped := v_stage.closed_at is not null or v_stage.paused;
      v_allowance := case
        when v_row.lo < 0 or v_stage.max_parallel is null or v_stage.total <= v_stage.max_parallel then 9223372036854775807
        else app.stage_allowance(v_stage, state.taken || v_new)
      end;
    end if;
    if v_stopped then
      perform app.park(v_row);
      v_aside := v_aside + 1;
      exit when v_aside >= c_aside;
      continue;
    end if;
    -- What has taken a worker down before travels alone, so that it cannot take its neighbours with it again.
    continue when v_row.crashes > 0 and state.tasks > 0;
    if v_small and v_share is null and v_row.hi - v_row.lo > 1 then
      select count(*) into v_waiting
        from (
          select from app.ready r
           where r.task_type = pool.task_type and r.tenant_id = pool.tenant_id and r.priority = pool.priority and r.turn >= 0 and r.turn < c_ring
           limit c_shares + 1) w;
      v_share := greatest((want + v_waiting - 1) / greatest(v_waiting, 1), 1);
    end if;
    v_take := least(v_row.hi - v_row.lo, want, v_share, v_allowance, v_fitting, greatest(1, state.bytes / greatest(v_row.task_bytes, 1)),
      case when v_row.crashes > 0 then 1 end);
    if v_take <= 0 then
      -- Its other rows are passed over without being locked.
      v_full := v_full || v_stage.stage_id;
      close v_cursor;
      v_cursor := null;
      may_wait := false;
      continue;
    end if;
    if v_take = v_row.hi - v_row.lo then
      v_gone := v_gone || v_row.ready_id;
    elsif v_small and v_waiting > 1 then
      update app.ready set lo = lo + v_take, turn = app.place_of(clock_timestamp()) where ready_id = v_row.ready_id;
      state.shared := true;
    else
      update app.ready set lo = lo + v_take where ready_id = v_row.ready_id;
    end if;
    v_new := v_new || (v_row.stage_id, v_row.lo, v_row.lo + v_take, v_row.tenant_id, v_row.task_type, v_row.priority,
      v_row.attempt, v_row.crashes, v_row.throttles, v_row.task_bytes)::app.taken_range;
    v_allowance := v_allowance - v_take;
    v_fitting := v_fitting - v_take;
    want := want - v_take;
    state.tasks := state.tasks + v_take;
    state.bytes := case when v_row.crashes > 0 then 0 else state.bytes - v_take * v_row.task_bytes end;
    exit when want <= 0 or state.bytes <= 0 or v_fitting <= 0;
  end loop;
  close v_cursor;
  if v_gone <> '{}' then
    delete from app.ready where ready_id = any (v_gone);
  end if;
  state.taken := state.taken || v_new;
end $$;
