-- For each thing a search is sorted by: its SQL, that of the value a page ended with, whether it descends, may be absent, and ended absent.
create or replace function stac.sort_texts(request jsonb, source text)
returns table (n integer, expression text, bound text, descends boolean, nullable boolean, bound_is_null boolean)
language plpgsql immutable
as $$
begin
  if jsonb_typeof(request -> 'sort') is distinct from 'array' or jsonb_array_length(request -> 'sort') not between 1 and 12 then
    raise exception 'a search is sorted by 1 to 12 fields' using errcode = 'FF002', hint = 'sort by fewer fields';
  end if;
  return query
  select (s.ordinal - 1)::integer,
    case when s.field ? 'column' then stac.column_text(s.field ->> 'column', source)
      else stac.path_text(s.field -> 'path', format('sort,%s', s.ordinal - 1)) end,
    case
      when not s.field ? 'column' then format('($2 #> ''{after,%s}'')', s.ordinal - 1)
      when s.field ->> 'column' in ('datetime', 'end_datetime') then format('($2 #>> ''{after,%s}'')::timestamptz', s.ordinal - 1)
      else format('($2 #>> ''{after,%s}'')', s.ordinal - 1)
    end,
    -- A page before another is read from its end.
    coalesce((s.field ->> 'descending')::boolean, false),
    not s.field ? 'column',
    coalesce(jsonb_typeof(request -> 'after' -> (s.ordinal - 1)::integer) = 'null', false)
  from jsonb_array_elements(request -> 'sort') with ordinality s (field, ordinal);
end $$;
