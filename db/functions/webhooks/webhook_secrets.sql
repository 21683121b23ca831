-- The secrets an endpoint's messages are signed with now, the newest first: sealed, or the names of secrets.
create or replace function app.webhook_secrets(e app.webhook_endpoints)
returns jsonb
language sql stable
as $$
  select jsonb_agg(s.item -> 'secret' order by s.position)
    from jsonb_array_elements(e.secrets) with ordinality as s(item, position)
   where coalesce((s.item ->> 'until')::timestamptz > now(), true)
$$;
