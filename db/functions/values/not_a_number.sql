-- Is a JSON value given and yet not a number within bounds?
create or replace function app.not_a_number(value jsonb, least_value numeric, greatest_value numeric)
returns boolean
language sql immutable
as $$
  select case
    when value is null or value = 'null' then false
    when jsonb_typeof(value) <> 'number' then true
    else (value #>> '{}')::numeric not between least_value and greatest_value
  end
$$;
