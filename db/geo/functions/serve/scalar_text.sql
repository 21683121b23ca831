-- The SQL of one side of a comparison, as a value of the type the comparison has. Values stay in $2 (the request) and are reached by their
-- place there; of names only those of the layer's own columns are written, quoted. beside: the type of the column it is compared with, in
-- which an index on that column can be asked.
create or replace function geo.scalar_text(node jsonb, wanted text, place text, layer jsonb, beside text default null)
returns text
language plpgsql immutable
as $$
declare
  v_column jsonb;
  v_raw text;
  v_args text[];
begin
  case
    when wanted not in ('text', 'number', 'boolean', 'time', 'json') then
      raise exception 'there is no type "%"', left(wanted, 80) using errcode = 'FF002', hint = 'text, number, boolean, time or json';
    when node ? 'column' then
      v_column := geo.layer_column(layer, node ->> 'column');
      v_raw := format('t.%I', v_column ->> 'name');
      return case
        when wanted = 'json' then format('to_jsonb(%s)', v_raw)
        when v_column ->> 'type' = 'json' then format('stac.json_%s(to_jsonb(%s))', wanted, v_raw)
        when wanted = 'text' and v_column ->> 'type' = 'string' then v_raw || '::text'
        when wanted = 'number' and v_column ->> 'type' in ('integer', 'number') then
          case when v_column ->> 'pg_type' in ('real', 'float4') then v_raw || '::numeric' else v_raw end
        when wanted = 'boolean' and v_column ->> 'type' = 'boolean' then v_raw
        when wanted = 'time' and v_column ->> 'type' = 'date' then format('(%s::timestamp at time zone ''UTC'')', v_raw)
        when wanted = 'time' and v_column ->> 'type' = 'datetime' then
          case when v_column ->> 'pg_type' in ('timestamp', 'timestamp without time zone') then format('(%s at time zone ''UTC'')', v_raw) else v_raw end
        -- A value of another kind is equal to nothing.
        else format('null::%s', case wanted when 'number' then 'numeric' when 'time' then 'timestamptz' else wanted end)
      end;
    when node ? 'value' then
      return case
        when wanted = 'time' then format('stac.time_of($2 #>> ''{%s,value}'')', place)
        when wanted = 'json' then format('($2 #> ''{%s,value}'')', place)
        when wanted = 'number' and beside in ('double precision', 'float8') then format('stac.json_number($2 #> ''{%s,value}'')::double precision', place)
        when wanted = 'number' and beside in ('bigint', 'int8', 'integer', 'int4', 'smallint', 'int2') and node ->> 'value' ~ '^-?\d{1,18}$' then
          format('stac.json_number($2 #> ''{%s,value}'')::bigint', place)
        else format('stac.json_%s($2 #> ''{%s,value}'')', wanted, place)
      end;
    when node ->> 'fn' in ('casei', 'accenti') and wanted = 'text' then
      return format('stac.%s(%s)', case node ->> 'fn' when 'casei' then 'without_case' else 'without_accents' end,
        geo.scalar_text(node #> '{args,0}', 'text', place || ',args,0', layer));
    when node ->> 'fn' in ('+', '-', '*', '/', '%', 'div', '^') and wanted = 'number' then
      v_args := array[
        format('(%s)::numeric', geo.scalar_text(node #> '{args,0}', 'number', place || ',args,0', layer)),
        format('(%s)::numeric', geo.scalar_text(node #> '{args,1}', 'number', place || ',args,1', layer))];
      return format(
        case node ->> 'fn'
          when '+' then '(%s + %s)' when '-' then '(%s - %s)' when '*' then '(%s * %s)'
          when '/' then '(%s / nullif(%s, 0))' when '%' then 'mod(%s, nullif(%s, 0))' when 'div' then 'div(%s, nullif(%s, 0))'
          -- In floating point: with whole numbers a short text would ask for a hundred thousand digits.
          else 'power(%s::double precision, %s::double precision)::numeric'
        end, v_args[1], v_args[2]);
    else
      raise exception 'a filter compares what has no value of type %', wanted using errcode = 'FF002', hint = 'compare properties, values and functions of them';
  end case;
end $$;
