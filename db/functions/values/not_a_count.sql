-- Is a JSON value given and yet not a whole number within bounds?
create or replace function app.not_a_count(value jsonb, least_value bigint, greatest_value bigint)
returns boolean
language sql immutable
as $$
  select case
    when value is null or value = 'null' then false
    when jsonb_typeof(value) <> 'number' then true
    else (value #>> '{}')::numeric not between least_value and greatest_value or (value #>> '{}')::numeric <> trunc((value #>> '{}')::numeric)
  end
$$;
