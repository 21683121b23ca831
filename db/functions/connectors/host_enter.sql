-- May a call to a host begin now? All workers ask here, so that limits hold for all of them together. For the tenant of the
-- session: a handler's burst names it, nobody's request does.
-- request: {scope, max_concurrent?, rate_per_s?, burst?, break_after?, window_s?, cool_down_s?, lease_s}
-- reply: {granted: true, slot_id, probe} or {granted: false, reason, retry_after_s}
create or replace function app.host_enter(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(null);
  v_scope text := left(request ->> 'scope', 300);
  v_most integer := (request ->> 'max_concurrent')::integer;
  v_rate double precision := nullif((request ->> 'rate_per_s')::double precision, 0);
  v_burst double precision := greatest(coalesce((request ->> 'burst')::double precision, v_rate), 1);
  v_now timestamptz;
  v_host app.host_states;
  v_busy bigint;
  v_probing boolean;
  v_slot bigint;
  v_reason text;
  v_wait double precision;
begin
  -- On a connection that handlers of all tenants share.
  perform app.wait_briefly();
  insert into app.host_states (tenant_id, scope, tokens) values (v_tenant, v_scope, coalesce(v_burst, 0)) on conflict do nothing;
  if found then
    perform app.forget_hosts(v_tenant);
  end if;
  select * into v_host from app.host_states where tenant_id = v_tenant and scope = v_scope for update;
  -- After the wait for the row: its holder wrote later times than this transaction's beginning.
  v_now := clock_timestamp();
  delete from app.host_slots where tenant_id = v_tenant and scope = v_scope and expires_at <= v_now;
  select count(*), coalesce(bool_or(is_probe), false) into v_busy, v_probing
    from app.host_slots where tenant_id = v_tenant and scope = v_scope;
  if v_host.breaker = 'open' and v_host.open_until <= v_now then
    v_host.breaker := 'half_open';
    v_host.open_until := null;
  end if;
  v_host.tokens := least(v_burst, v_host.tokens + v_rate * greatest(extract(epoch from v_now - v_host.refilled_at), 0));
  v_host.refilled_at := v_now;

  if v_host.wait_until > v_now then
    v_reason := 'asked_to_wait';
    v_wait := extract(epoch from v_host.wait_until - v_now);
  elsif v_host.breaker = 'open' then
    v_reason := 'circuit_open';
    v_wait := extract(epoch from v_host.open_until - v_now);
  elsif v_host.breaker = 'half_open' and v_probing then
    v_reason := 'circuit_probing';
    v_wait := greatest(v_host.mean_s, 1);
  elsif v_busy >= v_most then
    v_reason := 'busy';
  elsif v_host.tokens < 1 then
    v_reason := 'rate';
    v_wait := (1 - v_host.tokens) / v_rate;
  end if;
  if v_reason is not null then
    v_host.turn_at := greatest(v_host.turn_at, v_now)
      + make_interval(secs => greatest(1 / v_rate, v_host.mean_s / v_most, 0));
    v_wait := least(greatest(v_wait, extract(epoch from v_host.turn_at - v_now), 0.1), 3600);
  else
    v_host.tokens := v_host.tokens - 1;
    insert into app.host_slots (tenant_id, scope, is_probe, taken_at, expires_at)
    values (v_tenant, v_scope, v_host.breaker = 'half_open', v_now,
      v_now + make_interval(secs => least(greatest(coalesce((request ->> 'lease_s')::double precision, 60), 1), 86400)))
    returning slot_id into v_slot;
  end if;
  update app.host_states set
    tokens = coalesce(v_host.tokens, 0), refilled_at = v_host.refilled_at, turn_at = v_host.turn_at, breaker = v_host.breaker,
    open_until = v_host.open_until, used_at = v_now,
    break_after = coalesce((request ->> 'break_after')::integer, 5), window_s = coalesce((request ->> 'window_s')::double precision, 60),
    cool_down_s = coalesce((request ->> 'cool_down_s')::double precision, 30)
  where tenant_id = v_tenant and scope = v_scope;
  if v_slot is null then
    return json_build_object('granted', false, 'reason', v_reason, 'retry_after_s', round(v_wait::numeric, 3));
  end if;
  return json_build_object('granted', true, 'slot_id', v_slot, 'probe', v_host.breaker = 'half_open');
end $$;
grant execute on function app.host_enter(json) to fanfold_worker;
