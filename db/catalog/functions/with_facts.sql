-- A collection with extent and summaries as its items have them. Summaries of what no item has stay as they were given.
create or replace function stac.with_facts(collection jsonb, facts jsonb)
returns jsonb
language sql immutable
as $$
  select case
    when (facts ->> 'count')::bigint = 0 then collection
    else collection || jsonb_build_object(
      'extent', coalesce(collection -> 'extent', '{}') || jsonb_build_object(
        'spatial', case
          when jsonb_typeof(facts -> 'bbox') = 'array' then jsonb_build_object('bbox', jsonb_build_array(facts -> 'bbox'))
          else coalesce(collection #> '{extent,spatial}', '{"bbox": [[-180, -90, 180, 90]]}')
        end,
        'temporal', jsonb_build_object('interval', jsonb_build_array(facts -> 'interval'))))
      || case when s.summaries = '{}' then '{}' else jsonb_build_object('summaries', s.summaries) end
  end
  from (
    select coalesce(collection -> 'summaries', '{}') - array(select jsonb_object_keys(facts -> 'summaries'))
      || jsonb_strip_nulls(facts -> 'summaries') as summaries
  ) s
$$;
