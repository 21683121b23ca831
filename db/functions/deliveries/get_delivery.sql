-- One delivery with its payload and every try.
create or replace function app.get_delivery(delivery_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_delivery app.webhook_deliveries := app.find_delivery(app.acting_tenant(tenant), get_delivery.delivery_id);
begin
  return (app.delivery_record(v_delivery)::jsonb || jsonb_build_object(
    'payload', v_delivery.payload,
    'tries', (
      select coalesce(jsonb_agg(jsonb_build_object('at', a.at, 'series', a.series, 'duration_ms', a.duration_ms, 'status', a.status,
          'bytes', a.bytes, 'error', a.error, 'body', a.body) order by a.ticket), '[]')
        from app.webhook_attempts a
       where a.tenant_id = v_delivery.tenant_id and a.delivery_id = v_delivery.delivery_id)))::json;
end $$;
grant execute on function app.get_delivery(text, text) to fanfold_api, fanfold_admin;
