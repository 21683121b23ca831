-- The types that have work due of which not one more fits into the memory that is left; null when no memory was named.
create or replace function app.kept_out(pools app.ready_pool[], taken app.taken_range[], memory jsonb)
returns json
language plpgsql immutable
as $$
begin
  if memory is null then
    return null;
  end if;
  return coalesce((
    select json_agg(distinct p.task_type)
      from unnest(pools) p
     where (memory -> 'needs' ->> p.task_type)::bigint > app.room_left(memory, taken)), '[]');
end $$;
