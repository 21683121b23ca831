-- The text of a JSON string; null for anything else, so that comparing never fails and "5" is not 5.
create or replace function stac.json_text(value jsonb)
returns text
language sql immutable parallel safe
return case when jsonb_typeof(value) = 'string' then value #>> '{}' end;
