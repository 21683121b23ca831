-- The SQL that makes a row of a snapshot a JSON list; an array joins any number of columns, which no call of a function could take.
create or replace function geo.snapshot_row(facts jsonb, geometry text)
returns text
language sql immutable
as $$
  select format($q$'[' || array_to_string(array[t.n::text, '"' || t.key || '"'%s%s], ',', 'null') || ']'$q$,
    case
      when facts ->> 'srid' is null or geometry = 'none' then ', null, null, null, null, null'
      else format(', %s, @postgis@.st_xmin(t.geom)::text, @postgis@.st_ymin(t.geom)::text, @postgis@.st_xmax(t.geom)::text, @postgis@.st_ymax(t.geom)::text', case geometry
        when 'wkb' then $q$'"' || encode(@postgis@.st_asbinary(t.geom, 'NDR'), 'hex') || '"'$q$
        when 'wkt' then $q$'"' || @postgis@.st_astext(t.geom, 15) || '"'$q$
        else '@postgis@.st_asgeojson(@postgis@.st_forcepolygonccw(t.geom), 9, 0)' end)
    end,
    (select string_agg(', ' || replace(case c.one ->> 'type'
        when 'boolean' then '@::text'
        when 'number' then 'to_json(@)::text'
        when 'integer' then case when c.one ->> 'pg_type' = 'integer' then '@::text' else $q$'"' || @ || '"'$q$ end
        when 'date' then 'case when isfinite(@) then (@ - date ''1970-01-01'')::text end'
        when 'datetime' then $q$case when isfinite(@) then '"' || (extract(epoch from @) * 1000000)::bigint || '"' end$q$
        else 'to_json(@::text)::text' end, '@', 't.c' || c.n), '' order by c.n)
       from jsonb_array_elements(facts -> 'columns') with ordinality c (one, n)));
$$;
