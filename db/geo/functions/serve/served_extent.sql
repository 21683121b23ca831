-- West, south, east and north of a layer as it is served; null where nothing of it has a place.
create or replace function geo.served_extent(layer jsonb)
returns double precision[]
language sql immutable parallel safe
return (
  select array_agg(e.one::double precision order by e.n)
    from jsonb_array_elements_text(case when jsonb_typeof(layer -> 'extent') = 'array' then layer -> 'extent' else '[]' end) with ordinality e (one, n));
