-- An endpoint took a delivery: whatever was held against it is forgotten. The caller holds the row where anything was.
create or replace function app.endpoint_answered(endpoint app.webhook_endpoints)
returns void
language plpgsql
as $$
begin
  if endpoint.endpoint_id is null or endpoint.failure_streak = 0 then
    return;
  end if;
  update app.webhook_endpoints e
     set failure_streak = 0, failing_since = null, pause_count = 0, paused_until = null, probe_id = null, probe_until = null
   where e.tenant_id = endpoint.tenant_id and e.endpoint_id = endpoint.endpoint_id;
  if endpoint.paused_until is not null then
    perform app.note(endpoint.tenant_id, 'webhook.resumed', null, null, 'it answers again',
      jsonb_build_object('endpoint_id', endpoint.endpoint_id));
  end if;
end $$;
