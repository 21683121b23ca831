-- The SQL of one side of a comparison, as a value of the type the comparison has. Whatever came from outside stays in $2 and is
-- reached by its place there; only this function's own words become SQL.
create or replace function stac.scalar_text(node jsonb, wanted text, place text, source text)
returns text
language plpgsql immutable
as $$
declare
  v_type text := case wanted
    when 'text' then 'text' when 'number' then 'numeric' when 'boolean' then 'boolean' when 'time' then 'timestamptz' when 'json' then 'jsonb'
  end;
  v_cast text;
  v_args text[];
begin
  case
    when v_type is null then
      raise exception 'there is no type "%"', left(wanted, 80) using errcode = 'FF002', hint = 'text, number, boolean, time or json';
    when node ? 'column' then
      v_cast := case when node ->> 'column' in ('datetime', 'end_datetime') then 'time' else 'text' end;
      return case
        when v_cast = wanted then stac.column_text(node ->> 'column', source)
        when wanted = 'json' then format('to_jsonb(%s)', stac.column_text(node ->> 'column', source))
        else format('null::%s', v_type)
      end;
    when node ? 'path' then
      return case
        when wanted = 'json' then stac.path_text(node -> 'path', place)
        else format('stac.json_%s(%s)', wanted, stac.path_text(node -> 'path', place))
      end || case when wanted = 'text' then ' collate "C"' else '' end;
    when node ? 'value' then
      return case
        when wanted = 'time' then format('stac.time_of($2 #>> ''{%s,value}'')', place)
        when wanted = 'json' then format('($2 #> ''{%s,value}'')', place)
        else format('stac.json_%s($2 #> ''{%s,value}'')', wanted, place)
      end;
    when node ->> 'fn' in ('casei', 'accenti') and wanted = 'text' then
      return format('stac.%s(%s)', case node ->> 'fn' when 'casei' then 'without_case' else 'without_accents' end,
        stac.scalar_text(node #> '{args,0}', 'text', place || ',args,0', source));
    when node ->> 'fn' in ('+', '-', '*', '/', '%', 'div', '^') and wanted = 'number' then
      v_args := array[
        stac.scalar_text(node #> '{args,0}', 'number', place || ',args,0', source),
        stac.scalar_text(node #> '{args,1}', 'number', place || ',args,1', source)];
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
