-- Is this text, if given at all, a moment one can wait for?
create or replace function app.is_time(value text)
returns boolean
language plpgsql stable
as $$
begin
  return value is null or isfinite(value::timestamptz);
exception
  when data_exception then
    return false;
end $$;
