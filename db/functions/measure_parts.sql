-- Parts that a database may or may not have: what waits in them, and how late it is.
create or replace function app.measure_parts()
returns json
language plpgsql stable
as $$
begin
  return '{}'::json;
end $$;
