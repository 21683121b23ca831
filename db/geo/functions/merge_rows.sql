-- The rows of a candidate into the table of a layer: behind what is there, or by a key in place of what has the same. Gives how many are
-- new and how many took another's place. The layer's row is locked by who calls.
create or replace function geo.merge_rows(of_candidate text, layer geo.layers, of_mode text, request jsonb)
returns jsonb
language plpgsql
as $$
declare
  v_names text;
  v_values text;
  v_sets text;
  v_match text;
  v_missing text;
  v_first bigint;
  v_updated bigint := 0;
  v_inserted bigint;
begin
  select string_agg(w ->> 'name', ', ') into v_missing
    from jsonb_array_elements(request -> 'columns') w
   where not exists (select from jsonb_array_elements(layer.columns) h where h ->> 'name' = w ->> 'name' and h ->> 'pg_type' = w ->> 'pg_type');
  if v_missing is not null then
    perform geo.refuse(format('the layer "%s" has no columns of these names and types: %s', layer.name, v_missing),
      'give columns with those the layer has, or replace the layer');
  end if;
  select coalesce(string_agg(format(', %I', w ->> 'name'), ''), ''), coalesce(string_agg(format(', c.%I', w ->> 'name'), ''), ''),
    string_agg(format('%1$I = c.%1$I', w ->> 'name'), ', ')
    into v_names, v_values, v_sets
    from jsonb_array_elements(request -> 'columns') w;
  if layer.geometry_column is not null then
    v_names := v_names || format(', %I', layer.geometry_column);
    v_values := v_values || ', c.geom';
    v_sets := concat_ws(', ', v_sets, format('%I = c.geom', layer.geometry_column));
  end if;
  execute format('lock table geo.%I in share row exclusive mode', layer.table_name);
  execute format('select coalesce(max(fid), 0) from geo.%I', layer.table_name) into v_first;
  if of_mode = 'upsert' then
    select string_agg(format('t.%1$I is not distinct from c.%1$I', k), ' and ') into v_match from jsonb_array_elements_text(request -> 'key') k;
    if v_match is null then
      perform geo.refuse('an upsert needs a key', 'give key: the columns by which a feature is known');
    end if;
    execute format('update geo.%I t set %s from geo.%I c where %s', layer.table_name, v_sets, of_candidate, v_match);
    get diagnostics v_updated = row_count;
    execute format(
      'insert into geo.%I (fid%s) select %s + row_number() over (order by c.fid)%s from geo.%I c where not exists (select from geo.%I t where %s)',
      layer.table_name, v_names, v_first, v_values, of_candidate, layer.table_name, v_match);
  else
    execute format('insert into geo.%I (fid%s) select %s + row_number() over (order by c.fid)%s from geo.%I c',
      layer.table_name, v_names, v_first, v_values, of_candidate);
  end if;
  get diagnostics v_inserted = row_count;
  return jsonb_build_object('inserted', v_inserted, 'updated', v_updated);
end $$;
