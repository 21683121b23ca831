-- How two geometries lie to each other. Null for what GEOS cannot answer (collections of several kinds), which then matches nothing,
-- because one such item must not fail everybody's search.
create or replace function stac.relates(how text, a @postgis@.geometry, b @postgis@.geometry)
returns boolean
language plpgsql immutable strict
as $$
begin
  return case how
    when 's_contains' then @postgis@.st_contains(a, b)
    when 's_crosses' then @postgis@.st_crosses(a, b)
    when 's_equals' then @postgis@.st_equals(a, b)
    when 's_overlaps' then @postgis@.st_overlaps(a, b)
    when 's_touches' then @postgis@.st_touches(a, b)
    when 's_within' then @postgis@.st_within(a, b)
  end;
exception
  when internal_error or invalid_parameter_value then return null;
end $$;
