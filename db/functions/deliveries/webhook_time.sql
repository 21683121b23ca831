-- A moment as RFC 3339 in UTC, whatever the session's time zone: the text is signed.
create or replace function app.webhook_time(at timestamptz)
returns text
language sql stable
as $$ select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
