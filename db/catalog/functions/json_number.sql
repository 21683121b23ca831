-- A JSON number, whole; null for anything else.
create or replace function stac.json_number(value jsonb)
returns numeric
language sql immutable parallel safe
return case when jsonb_typeof(value) = 'number' then value::numeric end;
