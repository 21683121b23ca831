-- The SQL of "after the item that a page ended with" (or before it, backwards). What is absent comes last, in either direction of sorting.
create or replace function stac.keyset_text(request jsonb, source text)
returns text
language plpgsql immutable
as $$
declare
  v_backwards boolean := coalesce((request ->> 'backwards')::boolean, false);
  v_same text := '';
  v_ways text[] := array[]::text[];
  v_first text := '';
  v_row record;
  v_operator text;
  v_beyond text;
begin
  if jsonb_typeof(request -> 'after') is distinct from 'array' then
    return 'true';
  end if;
  for v_row in select * from stac.sort_texts(request, source) s order by s.n loop
    v_operator := case when v_row.descends <> v_backwards then '<' else '>' end;
    v_beyond := case
      when v_row.bound_is_null and v_backwards then format('%s is not null', v_row.expression)
      when v_row.bound_is_null then 'false'
      when v_row.nullable and not v_backwards then format('(%1$s %2$s %3$s or %1$s is null)', v_row.expression, v_operator, v_row.bound)
      else format('%s %s %s', v_row.expression, v_operator, v_row.bound)
    end;
    v_ways := v_ways || format('(%s%s)', v_same, v_beyond);
    v_same := v_same || case
      when v_row.bound_is_null then format('%s is null and ', v_row.expression)
      else format('%s = %s and ', v_row.expression, v_row.bound)
    end;
    -- Said once more about the first alone, because only this an index can begin at.
    if v_row.n = 0 and not v_row.nullable then
      v_first := format('%s %s= %s and ', v_row.expression, v_operator, v_row.bound);
    end if;
  end loop;
  return format('(%s(%s))', v_first, array_to_string(v_ways, ' or '));
end $$;
