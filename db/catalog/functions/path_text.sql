-- The SQL of a value in an item, found by the steps that stand in the request at a place: they are bound, never written out.
create or replace function stac.path_text(steps jsonb, place text)
returns text
language plpgsql immutable
as $$
begin
  if jsonb_typeof(steps) is distinct from 'array' or jsonb_array_length(steps) not between 1 and 16 then
    raise exception 'a path has 1 to 16 steps' using errcode = 'FF002', hint = 'name a property of items';
  end if;
  return (
    select format('nullif(i.content%s, ''null'')', string_agg(format(' -> ($2 #>> ''{%s,path,%s}'')', place, n), '' order by n))
      from generate_series(0, jsonb_array_length(steps) - 1) n);
end $$;
