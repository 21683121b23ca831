-- Refuses to send to an endpoint that is gone or disabled; holds the one there is, so that it stays so.
create or replace function app.assert_can_replay(tenant text, endpoint text)
returns void
language plpgsql
as $$
declare
  v_endpoint app.webhook_endpoints;
begin
  if endpoint is null then
    return;
  end if;
  v_endpoint := app.find_webhook(tenant, endpoint, true);
  if v_endpoint.disabled_at is not null then
    raise exception 'the endpoint is disabled: %', v_endpoint.disabled_reason
      using errcode = 'FF006', hint = 'enable it first', detail = app.action('webhooks.enable', endpoint_id => v_endpoint.endpoint_id);
  end if;
end $$;
