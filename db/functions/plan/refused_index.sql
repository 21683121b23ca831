-- The index and the extent that a plan gives a task, where they are not what a task may have: refused. Plans ask for it in a branch that no
-- good row takes; a check of the table would be read again for every job that has no plan at all.
create or replace function app.refused_index(index text, bbox double precision[] default null)
returns text
language plpgsql stable
as $$
begin
  if length(index) not between 1 and 200 then
    raise exception 'the index of a task has % characters', length(index)
      using errcode = 'FF002', hint = 'an index is a short name of 1 to 200 characters';
  end if;
  raise exception 'the bbox of task "%" has % numbers', left(coalesce(index, ''), 80), coalesce(cardinality(bbox), 0)
    using errcode = 'FF002', hint = 'a bbox has four numbers, or six with heights';
end $$;
