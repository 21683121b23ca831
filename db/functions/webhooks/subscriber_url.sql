-- Where a subscriber hears of this event; null: it does not.
create or replace function app.subscriber_url(subscriber jsonb, event_type text)
returns text
language sql immutable
as $$
  select subscriber ->> case split_part(event_type, '.', 2)
    when 'accepted' then 'inProgressUri' when 'completed' then 'successUri' when 'partial_success' then 'successUri'
    when 'failed' then 'failedUri' when 'cancelled' then 'failedUri' end
$$;
