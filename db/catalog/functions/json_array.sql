-- A JSON array; null for anything else.
create or replace function stac.json_array(value jsonb)
returns jsonb
language sql immutable parallel safe
return case when jsonb_typeof(value) = 'array' then value end;
