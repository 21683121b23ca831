-- Refuses a cursor that no page of this kind has given. `pattern` is what such a cursor looks like.
create or replace function app.assert_cursor(cursor text, pattern text)
returns void
language plpgsql immutable
as $$
begin
  if cursor !~ pattern then
    raise exception 'the cursor is not valid' using errcode = 'FF002', hint = 'pass `next` of the page before, unchanged';
  end if;
end $$;
