-- Whether JSON that came as text is to be looked through for numbers that are no doubles. The server has looked already: of it only
-- what is short is asked again, which costs less than to find out who it is.
create or replace function app.may_hold_wild_numbers(given text)
returns boolean
language plpgsql stable
as $$
begin
  return (octet_length(given) < 4096 or not app.is_server()) and given ~ '[0-9][eE][+-]?[0-9]{3}';
end $$;
