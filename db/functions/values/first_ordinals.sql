-- The first so many ordinals of what a claim holds.
create or replace function app.first_ordinals(held int8multirange, most bigint)
returns int8multirange
language plpgsql immutable
as $$
declare
  v_range int8range;
  v_first int8multirange := '{}'::int8multirange;
  v_take bigint;
begin
  if most >= app.held_count(held) then
    return held;
  end if;
  foreach v_range in array array(select r from unnest(held) r) loop
    exit when most <= 0;
    v_take := least(upper(v_range) - lower(v_range), most);
    v_first := v_first + int8multirange(int8range(lower(v_range), lower(v_range) + v_take));
    most := most - v_take;
  end loop;
  return v_first;
end $$;
