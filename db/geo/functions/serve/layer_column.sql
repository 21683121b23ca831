-- What is known of a column of a layer, by its name; refused where the layer has none of it. The key is one too.
create or replace function geo.layer_column(layer jsonb, name text)
returns jsonb
language plpgsql immutable
as $$
declare
  v_column jsonb;
begin
  if name = layer ->> 'key_column' then
    return jsonb_build_object('name', name, 'type', 'integer', 'pg_type', 'bigint');
  end if;
  select c.one into v_column from jsonb_array_elements(layer -> 'columns') c (one) where c.one ->> 'name' = layer_column.name limit 1;
  if v_column is null then
    raise exception 'the layer has no column "%"', left(name, 80) using errcode = 'FF002', hint = 'see the queryables of the collection';
  end if;
  return v_column;
end $$;
