-- The SQL of what a row of a layer takes on its way out: only texts and geometries differ much.
create or replace function geo.size_text(columns jsonb, geometry_column text)
returns text
language sql immutable
as $$
  select format('(%s + %s%s)', 24 + 10 * count(*),
    coalesce(string_agg(format('coalesce(octet_length(t.%I::text), 0)', c ->> 'name'), ' + ') filter (where c ->> 'pg_type' in ('text', 'jsonb')), '0'),
    case when geometry_column is not null then format(' + coalesce(@postgis@.st_memsize(t.%I), 0)', geometry_column) else '' end)
    from jsonb_array_elements(columns) c;
$$;
