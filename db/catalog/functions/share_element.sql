-- Do two JSON arrays have an element in common? Null where one is none.
create or replace function stac.share_element(a jsonb, b jsonb)
returns boolean
language sql immutable strict parallel safe
return exists (select from jsonb_array_elements(a) element where b @> jsonb_build_array(element));
