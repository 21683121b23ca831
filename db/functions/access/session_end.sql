-- When a session ends: 12 hours after it was last used, and 7 days after it began at the latest. A link is good for 10 minutes.
create or replace function app.session_end(kind text, created_at timestamptz, last_used_at timestamptz)
returns timestamptz
language sql stable
as $$
  select case kind
    when 'link' then created_at + interval '10 minutes'
    else least(last_used_at + interval '12 hours', created_at + interval '7 days')
  end
$$;
