-- The SQL of one side of a temporal comparison: when it begins and when it ends.
create or replace function stac.span_text(node jsonb, place text, source text)
returns text[]
language plpgsql immutable
as $$
declare
  v_time text;
begin
  if node ? 'interval' then
    return array[
      case when node #>> '{interval,0}' = '..' then '''-infinity''::timestamptz' else format('stac.time_of($2 #>> ''{%s,interval,0}'')', place) end,
      case when node #>> '{interval,1}' = '..' then '''infinity''::timestamptz' else format('stac.time_of($2 #>> ''{%s,interval,1}'')', place) end];
  end if;
  -- An item's datetime is the whole time it covers.
  if node ->> 'column' = 'datetime' and not node ? 'instant' then
    return array['i.datetime', 'i.end_datetime'];
  end if;
  v_time := stac.scalar_text(node, 'time', place, source);
  return array[v_time, v_time];
end $$;
