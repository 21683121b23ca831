-- An endpoint failed a send. Several in a row pause it, for longer each time; 410, or days without a success, disable it and tell
-- somebody. Of a paused one only the delivery that tries it lengthens the pause: sends begun before it say nothing new. The caller
-- holds the row.
create or replace function app.endpoint_failed(endpoint app.webhook_endpoints, delivery text, http_status integer, why text)
returns void
language plpgsql
as $$
declare
  v_rules record := app.webhook_patience();
  v_streak integer := endpoint.failure_streak + 1;
  v_since timestamptz := coalesce(endpoint.failing_since, now());
  v_counts boolean := endpoint.paused_until is null or endpoint.probe_id is not distinct from delivery;
  v_pause_s double precision;
begin
  if v_counts and v_streak >= v_rules.pause_after then
    v_pause_s := least(v_rules.longest_pause_s, v_rules.pause_s * 2 ^ least(endpoint.pause_count, 20));
  end if;
  update app.webhook_endpoints e
     set failure_streak = v_streak, failing_since = v_since,
         pause_count = e.pause_count + case when v_pause_s is null then 0 else 1 end,
         paused_until = case when v_counts then now() + make_interval(secs => v_pause_s) else e.paused_until end,
         probe_id = case when not v_counts then e.probe_id end, probe_until = case when not v_counts then e.probe_until end
   where e.tenant_id = endpoint.tenant_id and e.endpoint_id = endpoint.endpoint_id;
  if http_status = 410 then
    perform app.disable_endpoint(endpoint, 'it answered that it is gone (HTTP 410)', null);
  elsif v_since < now() - v_rules.disable_after and v_streak >= v_rules.disable_after_sends then
    perform app.disable_endpoint(endpoint, 'it has failed since ' || app.utc_text(v_since) || ', last: ' || why, null);
  elsif v_pause_s is not null and endpoint.paused_until is null then
    perform app.note(endpoint.tenant_id, 'webhook.paused', null, null, why,
      jsonb_build_object('endpoint_id', endpoint.endpoint_id, 'failures', v_streak, 'pause_s', v_pause_s));
  end if;
end $$;
