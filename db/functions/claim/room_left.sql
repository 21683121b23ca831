-- What is left of the memory a claim may use, after what it has taken so far; see claim.
create or replace function app.room_left(memory jsonb, taken app.taken_range[])
returns bigint
language sql immutable
as $$
  select (memory ->> 'room')::bigint - coalesce(sum((r.hi - r.lo) * (memory -> 'needs' ->> r.task_type)::bigint), 0)::bigint
    from unnest(taken) r
$$;
