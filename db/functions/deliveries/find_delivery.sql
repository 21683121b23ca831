-- A delivery of the tenant's; another tenant's is "not found".
create or replace function app.find_delivery(tenant text, wanted text)
returns app.webhook_deliveries
language plpgsql stable
as $$
declare
  v_delivery app.webhook_deliveries;
begin
  select * into v_delivery from app.webhook_deliveries d where d.tenant_id = tenant and d.delivery_id = wanted;
  if not found then
    raise exception 'there is no delivery "%"', left(coalesce(wanted, 'null'), 80)
      using errcode = 'FF001', hint = 'list them', detail = app.action('deliveries.list');
  end if;
  return v_delivery;
end $$;
