-- The next page of a tenant's webhook deliveries, oldest first: those that have ended and that no rule keeps any longer go, with their tries.
create or replace function app.retire_deliveries(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  c_page constant integer := 1000;
  v_seen integer;
  v_last text;
  v_due text[];
  v_removed integer;
begin
  select count(*), max(p.delivery_id), array_agg(p.delivery_id) filter (where p.ended_at < now() - make_interval(secs => p.keep_s))
    into v_seen, v_last, v_due
    from (
      select w.delivery_id, w.ended_at, (app.retention_rule(tenant, 'deliveries', '', w.status)).keep_s
        from app.webhook_deliveries w
       where w.tenant_id = tenant and w.delivery_id > coalesce(cursor ->> 0, '')
       order by w.delivery_id
       limit c_page
    ) p;
  -- A replay sets it to pending.
  delete from app.webhook_deliveries w where w.tenant_id = tenant and w.delivery_id = any (v_due) and w.status <> 'pending';
  get diagnostics v_removed = row_count;
  return jsonb_build_object('removed', v_removed, 'next', case when v_seen = c_page then jsonb_build_array(v_last) end);
end $$;
