-- The SQL of one side of a temporal comparison: when it begins and when it ends. A day lasts until its last microsecond.
create or replace function geo.span_text(node jsonb, place text, layer jsonb)
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
  v_time := geo.scalar_text(node, 'time', place, layer);
  if node ? 'column' and geo.layer_column(layer, node ->> 'column') ->> 'type' = 'date' then
    return array[v_time, format('(%s + interval ''1 day'' - interval ''1 microsecond'')', v_time)];
  end if;
  return array[v_time, v_time];
end $$;
