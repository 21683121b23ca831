-- What a collection's items say of it: {count, bbox, interval, summaries}. summaries has every property of any item: a range where all its
-- values are numbers, a list where they are at most 20 different texts or booleans (an array of texts counts by its elements), else null.
create or replace function stac.collection_facts(source text, of_collection text, tenant text)
returns jsonb
language plpgsql stable
as $$
declare
  v_rows text := case source
    when 'stac' then 'stac.items i where i.tenant_id = $2 and i.collection = $1'
    when 'pgstac' then 'pgstac.items i where i.collection = $1'
  end;
  v_facts jsonb;
  v_summaries jsonb;
begin
  execute format($q$
    select jsonb_build_object(
      'count', count(*),
      'bbox', (
        select jsonb_build_array(@postgis@.st_xmin(b.box), @postgis@.st_ymin(b.box), @postgis@.st_xmax(b.box), @postgis@.st_ymax(b.box))
          from (select @postgis@.st_extent(i.geometry) as box) b where b.box is not null),
      'interval', jsonb_build_array(
        to_char(min(i.datetime) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        to_char(max(i.end_datetime) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
      from %s $q$, v_rows)
    into v_facts using of_collection, tenant;
  execute format($q$
    with found as (
      select p.key, e.value, jsonb_typeof(e.value) as kind, count(*) as times
        from (select i.content -> 'properties' as properties from %s) i
        cross join lateral jsonb_each(i.properties) p
        cross join lateral (
          select p.value where jsonb_typeof(p.value) in ('number', 'string', 'boolean', 'object')
          union all
          select a from jsonb_array_elements(case when jsonb_typeof(p.value) = 'array' then p.value else '[]' end) a
        ) e (value)
       where p.key not in ('datetime', 'start_datetime', 'end_datetime', 'created', 'updated', 'title', 'description')
         and p.key not like 'fanfold:%%' and p.key not like 'processing:%%'
         and (jsonb_typeof(p.value) <> 'array' or jsonb_typeof(p.value -> 0) = 'string')
       group by 1, 2, 3
    )
    select jsonb_object_agg(k.key, k.summary) from (
      select f.key,
        case
          when bool_and(f.kind = 'number') then jsonb_build_object('minimum', min(stac.json_number(f.value)), 'maximum', max(stac.json_number(f.value)))
          when bool_and(f.kind in ('string', 'boolean')) and count(*) <= 20 then jsonb_agg(f.value order by f.value)
        end as summary
        from found f
       group by f.key
    ) k $q$, v_rows)
    into v_summaries using of_collection, tenant;
  return v_facts || jsonb_build_object('summaries', coalesce(v_summaries, '{}'));
end $$;
