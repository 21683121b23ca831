-- A JSON boolean; null for anything else.
create or replace function stac.json_boolean(value jsonb)
returns boolean
language sql immutable parallel safe
return case when jsonb_typeof(value) = 'boolean' then value::boolean end;
