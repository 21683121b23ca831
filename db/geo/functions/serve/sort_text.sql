-- The order of a page and "after the feature that the page before ended with", as SQL. request: {sort [{column, descending?}], after? [texts]};
-- the key comes last, so that no two features are in the same place. What is absent comes last in either direction.
create or replace function geo.sort_text(request jsonb, layer jsonb, out ordered text, out place text, out beyond text)
language plpgsql stable
as $$
declare
  v_sort jsonb := coalesce(request -> 'sort', '[]') || jsonb_build_array(jsonb_build_object('column', layer ->> 'key_column'));
  v_same text := '';
  v_ways text[] := array[]::text[];
  v_row record;
  v_bound text;
begin
  ordered := '';
  place := '';
  for v_row in
    select format('t.%I', geo.layer_column(layer, s.field ->> 'column') ->> 'name') as expression, s.field ->> 'column' = layer ->> 'key_column' as is_key,
        coalesce((s.field ->> 'descending')::boolean, false) as descends, s.n - 1 as n, request #>> array['after', (s.n - 1)::text] as bound,
        (select format_type(a.atttypid, a.atttypmod) from pg_attribute a
          where a.attrelid = format('geo.%I', layer ->> 'table_name')::regclass and a.attname = s.field ->> 'column') as type
      from jsonb_array_elements(v_sort) with ordinality s (field, n) order by s.n
  loop
    ordered := concat_ws(', ', nullif(ordered, ''), concat(v_row.expression, case when v_row.descends then ' desc' else '' end, case when v_row.is_key then '' else ' nulls last' end));
    place := concat_ws(', ', nullif(place, ''), v_row.expression || '::text');
    v_bound := format('($2 #>> ''{after,%s}'')::%s', v_row.n, v_row.type);
    v_ways := v_ways || format('(%s%s)', v_same, case
      when v_row.bound is null then 'false'
      when v_row.is_key then format('%s %s %s', v_row.expression, case when v_row.descends then '<' else '>' end, v_bound)
      else format('(%1$s %2$s %3$s or %1$s is null)', v_row.expression, case when v_row.descends then '<' else '>' end, v_bound)
    end);
    v_same := v_same || case when v_row.bound is null then format('%s is null and ', v_row.expression) else format('%s = %s and ', v_row.expression, v_bound) end;
    exit when v_row.is_key;
  end loop;
  beyond := case when jsonb_typeof(request -> 'after') = 'array' then format('(%s)', array_to_string(v_ways, ' or ')) else 'true' end;
end $$;
