-- A moment from its text; null where the text is none. The offset decides, never the session's time zone.
create or replace function stac.time_of(value text)
returns timestamptz
language plpgsql immutable strict parallel safe
set timezone = 'UTC'
as $$
begin
  if value !~ '^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d:\d\d(\.\d{1,20})?([Zz]|[+-]\d\d:\d\d)?)?$' then
    return null;
  end if;
  return value::timestamptz;
exception
  when data_exception then return null;
end $$;
