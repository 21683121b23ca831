-- Ranges [[from, to), …] as a caller writes them; what overlaps or touches becomes one.
create or replace function app.asked_ordinals(ranges json)
returns int8multirange
language plpgsql stable
as $$
declare
  c_most constant integer := 10000;
  v_ordinals int8multirange;
begin
  if json_typeof(ranges) is distinct from 'array' or json_array_length(ranges) not between 1 and c_most then
    raise exception 'give 1 to % ranges of ordinals', c_most using errcode = 'FF002', hint = 'each is [from, to), the last not among them';
  end if;
  begin
    select range_agg(int8range((r ->> 0)::bigint, (r ->> 1)::bigint)) into v_ordinals
      from json_array_elements(ranges) r
     where (r ->> 0)::bigint >= 0 and (r ->> 0)::bigint < (r ->> 1)::bigint;
  exception
    when invalid_text_representation or numeric_value_out_of_range or invalid_parameter_value then
      v_ordinals := null;
  end;
  if v_ordinals is null then
    raise exception 'a range is [from, to) with two whole numbers, the second larger' using errcode = 'FF002';
  end if;
  return v_ordinals;
end $$;
