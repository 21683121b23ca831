-- Refuses a call with one problem and what to do about it.
create or replace function geo.refuse(what text, fix text, code text default 'FF002')
returns void
language plpgsql
as $$
begin
  raise exception '%', what using errcode = code, hint = fix;
end $$;
