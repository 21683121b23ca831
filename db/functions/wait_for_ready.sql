-- Everything there is to take is locked by others, and we hold nothing: rather than leave empty-handed, wait for one row. Not
-- for long: it may be held by somebody's open transaction, and other tenants' work must not wait for that.
create or replace function app.wait_for_ready(pools app.ready_pool[], tenants text[], most bigint, bytes bigint, memory jsonb)
returns app.taken_range[]
language plpgsql
as $$
declare
  v_before text := current_setting('lock_timeout');
  v_tenant text;
  v_taken app.taken_range[] := '{}'::app.taken_range[];
begin
  perform set_config('lock_timeout', '300ms', true);
  foreach v_tenant in array tenants loop
    begin
      select t.taken into v_taken from app.take_ready(pools, v_tenant, most, most, bytes, true, memory, '{}') t;
    exception
      when lock_not_available then v_taken := '{}'::app.taken_range[];
    end;
    exit when cardinality(v_taken) > 0;
  end loop;
  perform set_config('lock_timeout', v_before, true);
  return v_taken;
end $$;
