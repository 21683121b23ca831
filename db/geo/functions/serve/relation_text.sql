-- The SQL of a spatial operator: in the reference system that the filter's geometries are in, with a box in the layer's own before it,
-- which its index is asked with.
create or replace function geo.relation_text(op text, args jsonb, place text, layer jsonb, of_srid integer, flips boolean)
returns text
language plpgsql immutable
as $$
declare
  v_own text := 't.' || quote_ident(layer ->> 'geometry_column');
  v_texts text[];
  v_reach text;
begin
  if layer ->> 'geometry_column' is null then
    return 'null::boolean';
  end if;
  v_texts := array(
    select case
        when a.node ? 'geometry' and of_srid = (layer ->> 'srid')::integer then v_own
        when a.node ? 'geometry' then format('@postgis@.st_transform(%s, %s)', v_own, of_srid)
        else format('geo.given_geometry($2 #> ''{%s,args,%s,geojson}'', %s, %L)', place, a.n - 1, of_srid, flips)
      end
      from jsonb_array_elements(args) with ordinality a (node, n) order by a.n);
  v_reach := case
    when args -> 0 ? 'geometry' = (args -> 1 ? 'geometry') then 'true'
    else format('%s operator(@postgis@.&&) geo.reach(%s, %s, %L)', v_own, case when args -> 0 ? 'geometry' then v_texts[2] else v_texts[1] end,
      layer ->> 'srid', geo.served_extent(layer))
  end;
  return case
    when op = 's_intersects' then format('(%s and @postgis@.st_intersects(%s, %s))', v_reach, v_texts[1], v_texts[2])
    when op = 's_disjoint' then format('(not @postgis@.st_intersects(%s, %s))', v_texts[1], v_texts[2])
    when op in ('s_contains', 's_crosses', 's_equals', 's_overlaps', 's_touches', 's_within') then
      format('(%s and stac.relates(%L, %s, %s))', v_reach, op, v_texts[1], v_texts[2])
  end;
end $$;
