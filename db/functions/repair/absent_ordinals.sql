-- The ordinals of a closed stage that have no result: they never ran, or were held when it was closed.
create or replace function app.absent_ordinals(stage bigint, total bigint)
returns int8multirange
language plpgsql stable
as $$
begin
  return int8multirange(int8range(0, total)) - coalesce(
    (select range_agg(int8range(r.ordinal, r.ordinal + 1)) from app.results r where r.stage_id = stage), '{}');
end $$;
