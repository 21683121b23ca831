-- An endpoint as its tenant sees it: of its secrets, which there are and until when, not what they are.
create or replace function app.webhook_record(e app.webhook_endpoints)
returns json
language sql stable
as $$
  select json_build_object(
    'endpoint_id', e.endpoint_id, 'url', e.url, 'description', e.description, 'events', to_json(e.events), 'timeout_s', e.timeout_s,
    'status', case when e.disabled_at is not null then 'disabled' when e.paused_until is not null then 'paused' else 'enabled' end,
    'disabled_at', e.disabled_at, 'disabled_reason', e.disabled_reason,
    'failure_streak', e.failure_streak, 'failing_since', e.failing_since, 'paused_until', e.paused_until,
    'secrets', (
      select json_agg(json_build_object('kept', case when s.item ->> 'secret' like 'secret://%' then s.item ->> 'secret' else 'sealed' end,
          'since', s.item ->> 'since', 'until', s.item ->> 'until') order by s.position)
        from jsonb_array_elements(e.secrets) with ordinality as s(item, position)
       where coalesce((s.item ->> 'until')::timestamptz > now(), true)),
    'created_at', e.created_at, 'created_by', e.created_by)
$$;
