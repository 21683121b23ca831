-- Where a page goes on that is sorted by time, newest first, and by id where times are equal. A cursor is the microseconds since 1970 of
-- the last row of the page before and, behind a dash, its id; `ids` is the pattern of dash and id. Without a cursor: at the newest row.
create or replace function app.time_cursor(cursor text, ids text, out at timestamptz, out id text)
language plpgsql stable
as $$
begin
  perform app.assert_cursor(cursor, '^\d{1,17}' || ids || '$');
  at := coalesce('epoch'::timestamptz + split_part(cursor, '-', 1)::bigint * interval '1 microsecond', 'infinity'::timestamptz);
  id := coalesce(substr(cursor, strpos(cursor, '-') + 1), '');
end $$;
