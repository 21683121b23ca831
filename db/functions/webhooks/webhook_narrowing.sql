-- What the tenant lets its webhooks call: its configuration "default" of this connector.
create or replace function app.webhook_narrowing(tenant text)
returns jsonb
language sql stable
as $$
  select c.config -> 'outbound' from app.connector_configs c
   where c.tenant_id = tenant and c.connector = 'webhook.deliver' and c.name = 'default'
$$;
