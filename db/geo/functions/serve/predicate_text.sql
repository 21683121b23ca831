-- The SQL of a filter on a layer's features, in the normal form that src/geo/cql2/filter.ts makes of CQL2. Values stay in $2 (the
-- request); see scalar_text.
create or replace function geo.predicate_text(node jsonb, place text, layer jsonb, of_srid integer, flips boolean, depth integer default 0)
returns text
language plpgsql immutable
as $$
declare
  c_deepest constant integer := 40;
  v_op text := node ->> 'op';
  v_type text := node ->> 'type';
  v_args jsonb := coalesce(node -> 'args', '[]');
  v_beside text;
  v_texts text[];
  v_left text[];
  v_right text[];
  v_template text;
begin
  if depth > c_deepest then
    raise exception 'a filter is nested deeper than %', c_deepest using errcode = 'FF002', hint = 'write it flatter';
  end if;
  if v_args -> 0 ? 'column' then
    v_beside := geo.layer_column(layer, v_args -> 0 ->> 'column') ->> 'pg_type';
  end if;
  case
    when v_op in ('and', 'or') and jsonb_array_length(v_args) > 0 then
      return (
        select '(' || string_agg(geo.predicate_text(a.node, format('%s,args,%s', place, a.n - 1), layer, of_srid, flips, depth + 1), format(' %s ', v_op) order by a.n) || ')'
          from jsonb_array_elements(v_args) with ordinality a (node, n));
    when v_op = 'not' then
      return format('(not %s)', geo.predicate_text(v_args -> 0, place || ',args,0', layer, of_srid, flips, depth + 1));
    when v_op in ('true', 'false') then
      return v_op;
    when v_op = 'is_true' then
      return format('(%s)', geo.scalar_text(v_args -> 0, 'boolean', place || ',args,0', layer));
    when v_op = 'isNull' and v_args -> 0 ? 'geometry' then
      return case when layer ->> 'geometry_column' is null then 'true' else format('(t.%I is null)', layer ->> 'geometry_column') end;
    when v_op = 'isNull' then
      return format('(%s is null)', case v_type when 'json' then format('nullif(%s, ''null'')', geo.scalar_text(v_args -> 0, v_type, place || ',args,0', layer))
        else geo.scalar_text(v_args -> 0, v_type, place || ',args,0', layer) end);
    when v_op in ('=', '<>', '<', '>', '<=', '>=', 'like', 'between') then
      v_texts := array(
        select geo.scalar_text(a.node, v_type, format('%s,args,%s', place, a.n - 1), layer, v_beside)
          from jsonb_array_elements(v_args) with ordinality a (node, n) order by a.n);
      return case
        when v_op = 'between' then format('(%s between %s and %s)', v_texts[1], v_texts[2], v_texts[3])
        when v_type = 'json' then format('(jsonb_typeof(%1$s) = jsonb_typeof(%3$s) and %1$s %2$s %3$s)', v_texts[1], v_op, v_texts[2])
        else format('(%s %s %s)', v_texts[1], v_op, v_texts[2])
      end;
    when v_op = 'in' then
      v_template := case v_type
        when 'text' then 'stac.json_text(e)' when 'number' then 'stac.json_number(e)' when 'boolean' then 'stac.json_boolean(e)' when 'time' then 'stac.json_time(e)'
      end;
      return format('(%s = any (array(select %s from jsonb_array_elements($2 #> ''{%s,args,1,list}'') e)))',
        geo.scalar_text(v_args -> 0, v_type, place || ',args,0', layer), v_template, place);
    when v_op like 's\_%' then
      v_template := geo.relation_text(v_op, v_args, place, layer, of_srid, flips);
      if v_template is not null then
        return v_template;
      end if;
    when v_op like 't\_%' then
      v_left := geo.span_text(v_args -> 0, place || ',args,0', layer);
      v_right := geo.span_text(v_args -> 1, place || ',args,1', layer);
      v_template := stac.temporal_template(v_op);
      if v_template is not null then
        return format('(' || v_template || ')', v_left[1], v_left[2], v_right[1], v_right[2]);
      end if;
    when v_op in ('a_equals', 'a_contains', 'a_containedBy', 'a_overlaps') then
      v_texts := array(
        select case when a.node ? 'column' then format('stac.json_array(to_jsonb(t.%I))', geo.layer_column(layer, a.node ->> 'column') ->> 'name')
            else format('stac.json_array($2 #> ''{%s,args,%s,array}'')', place, a.n - 1) end
          from jsonb_array_elements(v_args) with ordinality a (node, n) order by a.n);
      return format(
        case v_op
          when 'a_equals' then '(%1$s @> %2$s and %1$s <@ %2$s)' when 'a_contains' then '(%1$s @> %2$s)'
          when 'a_containedBy' then '(%1$s <@ %2$s)' else 'stac.share_element(%1$s, %2$s)'
        end, v_texts[1], v_texts[2]);
    else null;
  end case;
  raise exception 'there is no operator "%"', left(v_op, 80) using errcode = 'FF002', hint = 'see docs/ogc.md for the operators';
end $$;
