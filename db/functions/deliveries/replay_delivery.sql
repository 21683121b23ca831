-- Sends one delivery again, whatever became of it: the same id and bytes, a new series of tries.
create or replace function app.replay_delivery(delivery_id text, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_delivery app.webhook_deliveries := app.find_delivery(v_tenant, replay_delivery.delivery_id);
begin
  perform app.assert_can_replay(v_delivery.tenant_id, v_delivery.endpoint_id);
  perform app.begin_series(v_tenant, array[v_delivery.delivery_id], 0);
  perform app.note(v_tenant, 'webhook.replayed', v_delivery.job_id, null, null,
    jsonb_build_object('delivery_id', v_delivery.delivery_id, 'endpoint_id', v_delivery.endpoint_id), actor);
  return app.delivery_record(app.find_delivery(v_tenant, v_delivery.delivery_id));
end $$;
grant execute on function app.replay_delivery(text, text, text) to fanfold_api, fanfold_admin;
