-- The moment a JSON string tells; null for anything else.
create or replace function stac.json_time(value jsonb)
returns timestamptz
language sql immutable parallel safe
as $$ select case when jsonb_typeof(value) = 'string' then stac.time_of(value #>> '{}') end $$;
