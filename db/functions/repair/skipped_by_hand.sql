-- The ordinals of a stage that somebody skipped for a reason: a decision, which stands although their input may change.
create or replace function app.skipped_by_hand(stage bigint)
returns int8multirange
language plpgsql stable
as $$
begin
  return coalesce((
    select range_agg(int8range(r.ordinal, r.ordinal + 1))
      from app.results r
     where r.stage_id = stage and r.status = 'skipped' and r.error ->> 'code' = 'skipped'), '{}');
end $$;
