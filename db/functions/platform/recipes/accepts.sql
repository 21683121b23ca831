-- Does a recipe take files of these names, so many of them? What it accepts is {extensions, min_files, max_files}; a recipe that says
-- nothing is only found by its name. src/core/declare/routing.ts says the same.
create or replace function platform.accepts(accepts jsonb, files jsonb)
returns boolean
language sql immutable
as $$
  select coalesce(jsonb_typeof(accepts) = 'object' and jsonb_array_length(files) between coalesce((accepts ->> 'min_files')::integer, 1)
      and coalesce((accepts ->> 'max_files')::integer, 10000)
    and not exists (
      select from jsonb_array_elements_text(files) f
       where not exists (
         select from jsonb_array_elements_text(accepts -> 'extensions') e where right(lower(f), length(e)) = lower(e))), false)
$$;
