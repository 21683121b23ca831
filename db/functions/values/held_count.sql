-- How many ordinals a multirange holds.
create or replace function app.held_count(held int8multirange)
returns bigint
language plpgsql immutable
as $$
begin
  return (
    select coalesce(sum(upper(r) - lower(r)), 0)::bigint from unnest(held) r);
end $$;
