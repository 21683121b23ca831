-- The SQL of a filter, in the normal form that src/catalog/cql2.ts makes of CQL2. Values stay in $2 (the request) and are reached by
-- their place in it: nothing that came from outside is written into the statement.
create or replace function stac.predicate_text(node jsonb, place text, source text, depth integer default 0)
returns text
language plpgsql immutable
as $$
declare
  c_deepest constant integer := 40;
  v_op text := node ->> 'op';
  v_type text := node ->> 'type';
  v_args jsonb := coalesce(node -> 'args', '[]');
  v_texts text[];
  v_left text[];
  v_right text[];
  v_template text;
begin
  if depth > c_deepest then
    raise exception 'a filter is nested deeper than %', c_deepest using errcode = 'FF002', hint = 'write it flatter';
  end if;
  case
    when v_op in ('and', 'or') and jsonb_array_length(v_args) > 0 then
      return (
        select '(' || string_agg(stac.predicate_text(a.node, format('%s,args,%s', place, a.n - 1), source, depth + 1), format(' %s ', v_op) order by a.n) || ')'
          from jsonb_array_elements(v_args) with ordinality a (node, n));
    when v_op = 'not' then
      return format('(not %s)', stac.predicate_text(v_args -> 0, place || ',args,0', source, depth + 1));
    when v_op in ('true', 'false') then
      return v_op;
    when v_op = 'is_true' then
      return format('(%s)', stac.scalar_text(v_args -> 0, 'boolean', place || ',args,0', source));
    when v_op = 'isNull' and v_args -> 0 ? 'geometry' then
      return '(i.geometry is null)';
    when v_op = 'isNull' then
      return format('(%s is null)', stac.scalar_text(v_args -> 0, v_type, place || ',args,0', source));
    when v_op in ('=', '<>', '<', '>', '<=', '>=', 'like', 'between') then
      v_texts := array(
        select stac.scalar_text(a.node, v_type, format('%s,args,%s', place, a.n - 1), source)
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
        stac.scalar_text(v_args -> 0, v_type, place || ',args,0', source), v_template, place);
    when v_op like 's\_%' then
      v_texts := array(
        select case when a.node ? 'geometry' then 'i.geometry' else format('stac.geometry_of($2 #> ''{%s,args,%s,geojson}'', ''$.filter'', true)', place, a.n - 1) end
          from jsonb_array_elements(v_args) with ordinality a (node, n) order by a.n);
      case
        when v_op = 's_intersects' then return format('@postgis@.st_intersects(%s, %s)', v_texts[1], v_texts[2]);
        when v_op = 's_disjoint' then return format('(not @postgis@.st_intersects(%s, %s))', v_texts[1], v_texts[2]);
        when v_op in ('s_contains', 's_crosses', 's_equals', 's_overlaps', 's_touches', 's_within') then
          return format('(%2$s operator(@postgis@.&&) %3$s and stac.relates(''%1$s'', %2$s, %3$s))', v_op, v_texts[1], v_texts[2]);
        else null;
      end case;
    when v_op like 't\_%' then
      v_left := stac.span_text(v_args -> 0, place || ',args,0', source);
      v_right := stac.span_text(v_args -> 1, place || ',args,1', source);
      v_template := stac.temporal_template(v_op);
      if v_template is not null then
        return format('(' || v_template || ')', v_left[1], v_left[2], v_right[1], v_right[2]);
      end if;
    when v_op in ('a_equals', 'a_contains', 'a_containedBy', 'a_overlaps') then
      v_texts := array(
        select case when a.node ? 'path' then format('stac.json_array(%s)', stac.path_text(a.node -> 'path', format('%s,args,%s', place, a.n - 1)))
            else format('stac.json_array($2 #> ''{%s,args,%s,array}'')', place, a.n - 1) end
          from jsonb_array_elements(v_args) with ordinality a (node, n) order by a.n);
      return format(
        case v_op
          when 'a_equals' then '(%1$s @> %2$s and %1$s <@ %2$s)' when 'a_contains' then '(%1$s @> %2$s)'
          when 'a_containedBy' then '(%1$s <@ %2$s)' else 'stac.share_element(%1$s, %2$s)'
        end, v_texts[1], v_texts[2]);
    else null;
  end case;
  raise exception 'there is no operator "%"', left(v_op, 80) using errcode = 'FF002', hint = 'see docs/catalog.md for the operators';
end $$;
