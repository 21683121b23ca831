-- Returns what a receiver needs of an error, and no more of its message than fits.
create or replace function app.webhook_error(error jsonb)
returns json
language sql immutable
as $$
  select case when error is not null then json_build_object(
    'stage', error ->> 'stage', 'code', left(error ->> 'code', 100), 'message', left(error ->> 'message', 1000)) end
$$;
