-- Parameters with what their schema says where they say nothing, at its first level.
create or replace function platform.with_defaults(schema jsonb, parameters jsonb)
returns jsonb
language sql immutable
as $$
  select coalesce(jsonb_object_agg(p.key, p.value -> 'default') filter (where p.value ? 'default'), '{}') || parameters
    from jsonb_each(case jsonb_typeof(schema -> 'properties') when 'object' then schema -> 'properties' else '{}' end) p
$$;
