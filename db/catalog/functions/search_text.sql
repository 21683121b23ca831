-- The statement of a search. $1 tenant, $2 the request, $3 collections, $4 ids, $5 and $6 the time from and to, $7 a geometry. Gives rows
-- of an item's content and its place in the order.
create or replace function stac.search_text(request jsonb, source text)
returns text
language plpgsql immutable
as $$
declare
  v_backwards boolean := coalesce((request ->> 'backwards')::boolean, false);
  v_where text[] := case source when 'stac' then array['i.tenant_id = $1'] else array[]::text[] end;
  v_order text;
  v_key text;
begin
  if source = 'pgstac' or request ? 'collections' then
    -- One alone is told as one, so that an index in its order serves.
    v_where := v_where || case when request ->> 'one_collection' = 'true' then 'i.collection = $3[1]' else 'i.collection = any ($3)' end;
  end if;
  if request ? 'ids' then
    v_where := v_where || 'i.id = any ($4)'::text;
  end if;
  if request ? 'starts' then
    v_where := v_where || 'i.end_datetime >= $5'::text;
  end if;
  if request ? 'ends' then
    v_where := v_where || 'i.datetime <= $6'::text;
  end if;
  if request ? 'geometry' then
    v_where := v_where || '@postgis@.st_intersects(i.geometry, $7)'::text;
  end if;
  if request ? 'filter' then
    v_where := v_where || stac.predicate_text(request -> 'filter', 'filter', source);
  end if;
  v_where := v_where || stac.keyset_text(request, source);
  select
    string_agg(format('%s %s nulls %s', s.expression, case when s.descends <> v_backwards then 'desc' else 'asc' end,
      case when v_backwards then 'first' else 'last' end), ', ' order by s.n),
    string_agg(format('to_jsonb(%s)', s.expression), ', ' order by s.n)
    into v_order, v_key
    from stac.sort_texts(request, source) s;
  return format(
    'select %s as content, jsonb_build_array(%s) as key from %s i where %s order by %s limit %s',
    case source when 'stac' then 'i.content'
      else 'i.content || jsonb_build_object(''id'', i.id, ''collection'', i.collection, ''geometry'', @postgis@.st_asgeojson(i.geometry, 20)::jsonb)' end,
    v_key, case source when 'stac' then 'stac.items' else 'pgstac.items' end,
    array_to_string(v_where, ' and '), v_order, least(greatest((request ->> 'limit')::integer, 1), 10001));
end $$;
