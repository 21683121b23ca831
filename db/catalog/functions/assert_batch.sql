-- Refuses items that cannot be stored as one batch of a collection: all problems at once, as far as they help.
create or replace function stac.assert_batch(into_collection text, items jsonb)
returns void
language plpgsql immutable
as $$
declare
  c_most_problems constant integer := 20;
  v_problems jsonb;
begin
  if jsonb_typeof(items) is distinct from 'array' then
    perform stac.refuse('items are given as an array', '$', 'is not an array', 'give an array of items');
  end if;
  select jsonb_agg(jsonb_build_object('path', format('$[%s]', f.ordinal - 1), 'problem', f.problem, 'fix', f.fix) order by f.ordinal)
    into v_problems
    from (
      select p.ordinal, p.problem, p.fix
        from (
          select e.ordinal,
            case
              when coalesce(octet_length(stac.json_text(e.item -> 'id')), 0) not between 1 and 512 then 'its id is missing, empty or longer than 512 bytes'
              when e.item ->> 'collection' is distinct from into_collection then 'it is of another collection than the one it is put into'
              when count(*) over (partition by e.item ->> 'id') > 1 then format('its id %s comes more than once in this batch', left(to_json(e.item ->> 'id')::text, 80))
              when t.starts is null or t.ends is null then 'it has neither a datetime nor both start_datetime and end_datetime (RFC 3339)'
              when t.starts > t.ends then 'it ends before it begins'
            end as problem,
            'mend this item; nothing of the batch was stored' as fix
          from jsonb_array_elements(items) with ordinality e (item, ordinal)
          cross join lateral stac.item_times(e.item) t
        ) p
       where p.problem is not null
       order by p.ordinal
       limit c_most_problems
    ) f;
  if v_problems is not null then
    raise exception 'the items cannot be stored' using errcode = 'FF002', detail = v_problems::text,
      hint = 'mend them; nothing of the batch was stored';
  end if;
end $$;
