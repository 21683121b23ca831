-- Gives up one pending delivery, with a reason.
create or replace function app.discard_delivery(delivery_id text, reason text default null, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_delivery app.webhook_deliveries := app.find_delivery(v_tenant, discard_delivery.delivery_id);
begin
  select * into v_delivery from app.webhook_deliveries d
   where d.tenant_id = v_tenant and d.delivery_id = v_delivery.delivery_id for update;
  if v_delivery.status not in ('pending', 'discarded') then
    raise exception 'the delivery is %, which is final', v_delivery.status using errcode = 'FF006', hint = 'only a pending one can be discarded';
  end if;
  if v_delivery.status = 'pending' then
    perform app.end_delivery(v_delivery, 'discarded', coalesce(reason, 'discarded on request'));
    perform app.note(v_tenant, 'webhook.discarded', v_delivery.job_id, null, reason,
      jsonb_build_object('delivery_id', v_delivery.delivery_id), actor);
  end if;
  return app.delivery_record(app.find_delivery(v_tenant, v_delivery.delivery_id));
end $$;
grant execute on function app.discard_delivery(text, text, text, text) to fanfold_api, fanfold_admin;
