-- Returns those of these ordinals of a stage that completed.
create or replace function app.completed_ordinals(stage bigint, ordinals int8multirange)
returns int8multirange
language plpgsql stable
as $$
begin
  return coalesce((
    select range_agg(int8range(r.ordinal, r.ordinal + 1))
      from unnest(ordinals) w
      cross join lateral (
        select q.ordinal from app.results q
         where q.stage_id = stage and q.ordinal >= lower(w) and q.ordinal < upper(w) and q.status = 'completed'
        offset 0) r), '{}');
end $$;
