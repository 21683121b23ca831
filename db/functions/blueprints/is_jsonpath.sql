create or replace function app.is_jsonpath(value text)
returns boolean
language plpgsql stable
as $$
begin
  perform value::jsonpath;
  return value is not null;
exception
  when syntax_error or data_exception then
    return false;
end $$;
