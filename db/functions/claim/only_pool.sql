-- The pools of these types where that can be seen at once: none, or one that is a single range and due, so that there is nobody to be fair
-- to. Null where it takes a closer look (runnable_pools). An idle worker's claim is one of these, and so is every claim of a wide stage that
-- is alone.
create or replace function app.only_pool(types text[], only_tenant text, planning text[])
returns app.ready_pool[]
language plpgsql
as $$
declare
  v_rows app.ready_pool[];
  v_pool app.ready_pool;
begin
  v_rows := array(
    select (r.tenant_id, r.task_type, r.priority, r.run_at, r.turn)::app.ready_pool from app.ready r where r.task_type = any (types) limit 2);
  if cardinality(v_rows) <> 1 then
    return case when cardinality(v_rows) = 0 then v_rows end;
  end if;
  v_pool := v_rows[1];
  if v_pool.turn >= 0 and (only_tenant is null or v_pool.tenant_id = only_tenant) and not exists (select from app.paused_types) and not exists (select from app.moving_tenants)
    and (v_pool.task_type <> '#plan' or v_pool.tenant_id <> all (planning)) then
    return v_rows;
  end if;
  return null;
end $$;
