-- Ordinals for lone tasks: neighbours for what is enqueued together, also when others enqueue at the same moment.
create or replace function app.new_ordinals(how_many integer)
returns bigint[]
language plpgsql
as $$
declare
  c_blocks_start constant bigint := 1099511627776;
  v_first bigint;
begin
  if how_many = 1 then
    return array[nextval('app.lone_ordinals')];
  end if;
  v_first := c_blocks_start + nextval('app.lone_blocks') * 10000;
  return array(select v_first + i from generate_series(0, how_many - 1) i);
end $$;
