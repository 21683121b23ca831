-- Parts that a database may or may not have, depending on its version: what waits in them, and how late it is. Each by an index.
create or replace function app.measure_parts()
returns json
language plpgsql stable
set enable_seqscan = off
as $$
declare
  v_parts jsonb := '{}'::jsonb;
  v_part jsonb;
  -- A name that is looked up when it is there, and not when the function is checked.
  v_table text;
begin
  v_table := 'webhook_deliveries';
  if to_regclass('app.' || v_table) is not null then
    execute format($sql$
      select jsonb_build_object(
          'pending', count(*), 'oldest_s', coalesce(extract(epoch from now() - min(d.next_at) filter (where d.next_at < now())), 0))
        from app.%I d
       where d.status = 'pending' $sql$, v_table) into v_part;
    v_parts := v_parts || jsonb_build_object('webhooks', v_part);
  end if;
  v_table := 'schedules';
  if to_regclass('app.' || v_table) is not null then
    execute format($sql$
      select jsonb_build_object(
          'enabled', count(*), 'lag_s', coalesce(extract(epoch from now() - min(s.next_at) filter (where s.next_at < now())), 0))
        from app.%I s
       where s.paused_at is null and s.next_at is not null $sql$, v_table) into v_part;
    v_parts := v_parts || jsonb_build_object('schedules', v_part);
  end if;
  return v_parts::json;
end $$;
