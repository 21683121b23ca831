-- A JSON array as texts; null where it is none, or empty.
create or replace function app.texts_of(list json)
returns text[]
language plpgsql immutable
as $$
begin
  return (
    select array_agg(e) from json_array_elements_text(case json_typeof(list) when 'array' then list else '[]' end) e where e is not null);
end $$;
