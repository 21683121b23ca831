-- The next page of a tenant's idempotency keys: a key goes once its task is gone. A young one may belong to a call that has not committed.
create or replace function app.retire_keys(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  c_page constant integer := 2000;
  v_page app.idempotency_keys[];
  v_last app.idempotency_keys;
  v_removed integer;
begin
  v_page := array(
    select k from app.idempotency_keys k
     where k.tenant_id = tenant
       and (cursor is null or (k.task_type, k.key_hash) > (cursor ->> 0, decode(cursor ->> 1, 'hex')))
     order by k.task_type, k.key_hash
     limit c_page);
  delete from app.idempotency_keys k
   using unnest(v_page) p
   where k.tenant_id = p.tenant_id and k.task_type = p.task_type and k.key_hash = p.key_hash
     and p.created_at < now() - interval '1 day'
     and not exists (select from app.tasks t where t.stage_id = p.stage_id and t.ordinal = p.ordinal);
  get diagnostics v_removed = row_count;
  v_last := v_page[cardinality(v_page)];
  return jsonb_build_object('removed', v_removed, 'next', case
    when cardinality(v_page) = c_page then jsonb_build_array(v_last.task_type, encode(v_last.key_hash, 'hex')) end);
end $$;
