-- Refuses JSON with a number that is no double: a few characters of it (1e100000) are a hundred thousand for everybody who reads it,
-- and read as another number. What comes over HTTP has none; a tenant that speaks SQL could send it.
create or replace function app.refuse_wild_numbers(value jsonb)
returns void
language plpgsql immutable
as $$
begin
  if jsonb_path_exists(value, 'strict $.** ? (@.type() == "number"
    && (@ > 1.8e308 || @ < -1.8e308 || (@ != 0 && @ < 1e-330 && @ > -1e-330)))') then
    raise exception 'a number is beyond the range of a double' using errcode = 'FF002', hint = 'send it as a string';
  end if;
end $$;
