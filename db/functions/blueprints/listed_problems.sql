-- What stages and jobs of a recipe have in common, as 'field|problem': `names` are those before it in the list, `place` counts from 1.
create or replace function app.listed_problems(listed jsonb, place integer, names text[], one text)
returns setof text
language sql stable
as $$
  select p from (values
    (coalesce(listed ->> 'name', '') !~ '^[a-z][a-z0-9_]{0,62}$', 'name|malformed ' || one || ' name'),
    (listed ->> 'name' = any (names), 'name|a second ' || one || ' of this name'),
    (listed ? 'number' and listed ->> 'number' is distinct from place::text, 'number|' || one || 's are numbered from 1 in order'),
    (coalesce(listed ->> 'importance', 'critical') not in ('critical', 'important', 'optional'), 'importance|not one of critical, important, optional'),
    (jsonb_typeof(coalesce(listed -> 'after', '[]')) <> 'array' or exists (
      select from jsonb_array_elements_text(case jsonb_typeof(listed -> 'after') when 'array' then listed -> 'after' else '[]' end) a
       where a !~ '^[0-9]{1,4}$' or a::integer not between 1 and place - 1), format('after|a %s may only come after %1$ss before it in the list', one)),
    (jsonb_typeof(coalesce(listed -> 'gate', 'null')) not in ('null', 'object')
      or (jsonb_typeof(listed -> 'gate') = 'object' and (jsonb_typeof(listed -> 'gate' -> 'message') is distinct from 'string'
        or length(listed -> 'gate' ->> 'message') not between 1 and 1000)), 'gate|not {"message": "what is to be approved"}')
  ) as checks(bad, p) where bad
$$;
