-- A moment inside a sentence, the same in every session's time zone.
create or replace function app.utc_text(at timestamptz)
returns text
language sql stable
as $$ select to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') $$;
