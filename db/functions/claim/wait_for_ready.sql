-- Everything there is to take is locked by others, and we hold nothing: rather than leave empty-handed, wait for one row. Not
-- for long: it may be held by somebody's open transaction, and other tenants' work must not wait for that. `held`: tenants whose rows
-- were not to be had; whoever claims names them for a while, so that it is not they who are waited for again and again.
create or replace function app.wait_for_ready(
  pools app.ready_pool[], no_wait text[], most bigint, memory jsonb, inout state app.taking, out held text[])
language plpgsql
as $$
declare
  v_before text := current_setting('lock_timeout');
  v_tenant text;
  v_pool app.ready_pool;
begin
  held := '{}'::text[];
  perform set_config('lock_timeout', '100ms', true);
  foreach v_tenant in array app.tenants_of_pools(pools) loop
    continue when v_tenant = any (no_wait);
    begin
      foreach v_pool in array pools loop
        if v_pool.tenant_id = v_tenant and state.tasks = 0 then
          state := app.take_ready(v_pool, most, true, memory, state);
        end if;
      end loop;
    exception
      when lock_not_available then held := held || v_tenant;
    end;
    exit when state.tasks > 0;
  end loop;
  perform set_config('lock_timeout', v_before, true);
end $$;
