-- What waits for an endpoint waits no more. Their tasks find that out by themselves. The caller holds the endpoint's row.
create or replace function app.discard_deliveries(tenant text, endpoint text, why text)
returns bigint
language plpgsql
as $$
declare
  v_count bigint;
begin
  update app.webhook_deliveries d
     set status = 'discarded', reason = left(why, 500), next_at = null, ended_at = now()
   where d.tenant_id = tenant and d.endpoint_id = endpoint and d.status = 'pending';
  get diagnostics v_count = row_count;
  if v_count > 0 then
    insert into app.tallies (name, label, amount) values ('webhooks_ended', 'discarded', v_count);
  end if;
  return v_count;
end $$;
