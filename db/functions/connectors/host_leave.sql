-- A call to a host has ended. What came of it moves the circuit breaker: enough failures in a window, and not fewer than
-- successes, open it; the one call that is let through afterwards closes it or opens it for longer.
-- request: {slot_id, outcome: ok | failed | throttled | ignored, retry_after_s?}
create or replace function app.host_leave(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(null);
  v_outcome text := request ->> 'outcome';
  v_slot app.host_slots;
  v_host app.host_states;
  v_before text;
  v_now timestamptz;
begin
  if v_outcome is null or v_outcome not in ('ok', 'failed', 'throttled', 'ignored') then
    raise exception 'outcome must be ok, failed, throttled or ignored' using errcode = 'FF002';
  end if;
  perform app.wait_briefly();
  select * into v_slot from app.host_slots where slot_id = (request ->> 'slot_id')::bigint and tenant_id = v_tenant;
  if not found then
    -- It has expired: somebody else was let in for it, and its outcome is old news.
    return json_build_object('left', false);
  end if;
  select * into v_host from app.host_states where tenant_id = v_tenant and scope = v_slot.scope for update;
  delete from app.host_slots where slot_id = v_slot.slot_id;
  if not found then
    return json_build_object('left', false);
  end if;
  v_now := clock_timestamp();
  v_before := v_host.breaker;
  if v_outcome in ('ok', 'failed') then
    v_host.mean_s := v_host.mean_s * 0.8 + 0.2 * greatest(extract(epoch from v_now - v_slot.taken_at), 0.001);
  end if;
  if v_host.window_began_at + make_interval(secs => v_host.window_s) <= v_now then
    v_host.window_began_at := v_now;
    v_host.window_failed := 0;
    v_host.window_ok := 0;
  end if;
  v_host.window_ok := v_host.window_ok + (v_outcome = 'ok')::integer;
  v_host.window_failed := v_host.window_failed + (v_outcome = 'failed')::integer;
  if v_slot.is_probe and v_outcome in ('ok', 'throttled') then
    -- A host that asks to wait is alive.
    v_host.breaker := 'closed';
    v_host.opened_count := 0;
    v_host.window_failed := 0;
  elsif v_outcome = 'failed' and (v_slot.is_probe or (v_host.breaker = 'closed'
      and v_host.window_failed >= v_host.break_after and v_host.window_failed >= v_host.window_ok)) then
    v_host.breaker := 'open';
    v_host.open_until := v_now + make_interval(secs => least(v_host.cool_down_s * power(2, least(v_host.opened_count, 10)),
      greatest(v_host.cool_down_s, 600)));
    v_host.opened_count := v_host.opened_count + 1;
    v_host.window_failed := 0;
    v_host.window_ok := 0;
  end if;
  if v_outcome = 'throttled' then
    v_host.wait_until := greatest(v_host.wait_until,
      v_now + make_interval(secs => least(greatest(coalesce((request ->> 'retry_after_s')::double precision, 1), 0), 3600)));
  end if;
  update app.host_states set
    mean_s = v_host.mean_s, wait_until = v_host.wait_until, breaker = v_host.breaker, window_began_at = v_host.window_began_at,
    window_failed = v_host.window_failed, window_ok = v_host.window_ok, opened_count = v_host.opened_count,
    open_until = case when v_host.breaker = 'open' then v_host.open_until end, used_at = v_now
  where tenant_id = v_tenant and scope = v_slot.scope;
  if v_host.breaker <> v_before and v_host.breaker in ('open', 'closed') and not (v_before = 'half_open' and v_host.breaker = 'open') then
    perform app.note(v_tenant, 'connector.circuit_' || case v_host.breaker when 'open' then 'opened' else 'closed' end, null, null,
      v_slot.scope, jsonb_build_object('scope', v_slot.scope, 'open_until', v_host.open_until));
  end if;
  return json_build_object('left', true, 'breaker', v_host.breaker);
end $$;
grant execute on function app.host_leave(json) to fanfold_worker;
