-- A moment from its text, in UTC unless it says otherwise; null where the text is none.
create or replace function stac.time_of(value text)
returns timestamptz
language plpgsql immutable strict parallel safe
as $$
begin
  if value !~ '^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d:\d\d(\.\d{1,20})?([Zz]|[+-]\d\d:\d\d)?)?$' then
    return null;
  end if;
  return (value || case
    when length(value) = 10 then 'T00:00:00Z'
    when right(value, 1) in ('Z', 'z') or substr(value, length(value) - 5, 1) in ('+', '-') then ''
    else 'Z'
  end)::timestamptz;
exception
  when data_exception then return null;
end $$;
