-- Two counts of the same things, added: numbers, and objects of numbers.
create or replace function geo.add_facts(a jsonb, b jsonb)
returns jsonb
language sql immutable
as $$
  select coalesce(jsonb_object_agg(k.key, case
      when jsonb_typeof(coalesce(a -> k.key, b -> k.key)) = 'object' then geo.add_facts(coalesce(a -> k.key, '{}'), coalesce(b -> k.key, '{}'))
      else to_jsonb(coalesce((a ->> k.key)::bigint, 0) + coalesce((b ->> k.key)::bigint, 0))
    end), '{}')
    from (select jsonb_object_keys(a) as key union select jsonb_object_keys(b)) k
$$;
