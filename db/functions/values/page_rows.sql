-- How many rows a page has: what the caller asked for, or `usual`.
create or replace function app.page_rows(asked integer, usual integer default 50)
returns integer
language plpgsql immutable
as $$
begin
  if asked not between 1 and 1000 then
    raise exception 'a page has 1 to 1000 rows, not %', asked using errcode = 'FF002';
  end if;
  return coalesce(asked, usual);
end $$;
