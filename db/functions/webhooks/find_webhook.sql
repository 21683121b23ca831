-- An endpoint of the tenant's, held when it is to be changed; another tenant's is "not found".
create or replace function app.find_webhook(tenant text, wanted text, for_change boolean default false)
returns app.webhook_endpoints
language plpgsql
as $$
declare
  v_endpoint app.webhook_endpoints;
begin
  if for_change then
    select * into v_endpoint from app.webhook_endpoints e where e.tenant_id = tenant and e.endpoint_id = wanted for update;
  else
    select * into v_endpoint from app.webhook_endpoints e where e.tenant_id = tenant and e.endpoint_id = wanted;
  end if;
  if v_endpoint.endpoint_id is null then
    raise exception 'there is no webhook endpoint "%"', left(coalesce(wanted, 'null'), 80)
      using errcode = 'FF001', hint = 'list them', detail = app.action('webhooks.list');
  end if;
  return v_endpoint;
end $$;
