-- The values that a tile has of columns, with commas between: texts, numbers and truths, so times and JSON as their texts, whether PostGIS or
-- we write the tile. Empty where there are none.
create or replace function geo.tile_columns_text(columns jsonb, of_table text)
returns text
language sql immutable
return (
  select coalesce(string_agg(format(case
        when c.one ->> 'type' = 'datetime' then '(to_json(%2$s.%1$I) #>> ''{}'') as %1$I'
        when c.one ->> 'type' in ('json', 'date') then '%2$s.%1$I::text as %1$I'
        when c.one ->> 'type' = 'number' then '%2$s.%1$I::double precision as %1$I'
        else '%2$s.%1$I as %1$I'
      end, c.one ->> 'name', of_table), ', ' order by c.n), '')
    from jsonb_array_elements(columns) with ordinality c (one, n));
