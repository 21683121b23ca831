-- Is a task type one of these? Null: all are; a pattern that ends in .* fits all that begin so.
create or replace function app.is_of_types(type text, patterns text[])
returns boolean
language sql immutable
as $$
  select patterns is null or exists (
    select from unnest(patterns) p
     where case when p like '%.*' then starts_with(type, left(p, -1)) else type = p end)
$$;
