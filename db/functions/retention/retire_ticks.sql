-- Old times of a tenant's schedules.
create or replace function app.retire_ticks(tenant text, cursor jsonb)
returns jsonb
language plpgsql
as $$
declare
  c_page constant integer := 1000;
  v_until constant timestamptz := now() - make_interval(secs => (app.retention_rule(tenant, 'ticks')).keep_s);
  v_removed integer;
begin
  delete from app.schedule_ticks t where t.ctid = any (array(
    select k.ctid
      from app.schedules s
      join app.schedule_ticks k on k.schedule_id = s.schedule_id and k.tick_at < v_until
     where s.tenant_id = tenant and k.at < v_until
     limit c_page));
  get diagnostics v_removed = row_count;
  return jsonb_build_object('removed', v_removed, 'next', case when v_removed = c_page then coalesce(cursor, '[]') end);
end $$;
