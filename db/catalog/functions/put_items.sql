-- Inserts or replaces items of one collection by their ids, all or none. Gives how many. Rows are taken in the order of their ids,
-- so that two batches that share ids wait for each other and never deadlock.
create or replace function stac.put_items(into_collection text, items jsonb, tenant text default null)
returns integer
language plpgsql security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored integer;
begin
  perform 1 from stac.collections c where c.tenant_id = v_tenant and c.id = into_collection for key share;
  if not found then
    raise exception 'there is no collection "%"', left(into_collection, 80)
      using errcode = 'FF001', hint = 'make the collection first, then put its items';
  end if;
  if not app.is_server() then
    perform app.refuse_wild_numbers(items);
  end if;
  perform stac.assert_batch(into_collection, items);
  perform platform.assert_may_publish(v_tenant, array(
    select distinct e #>> '{properties,fanfold:job_id}' from jsonb_array_elements(items) e where e #>> '{properties,fanfold:job_id}' is not null));
  insert into stac.items as i (tenant_id, collection, id, geometry, datetime, end_datetime, content)
  select v_tenant, into_collection, s.id, stac.geometry_of(s.item -> 'geometry', format('$[%s].geometry', s.ordinal - 1), false), t.starts, t.ends, s.item
    from (
      select e.item ->> 'id' as id, e.item, e.ordinal
        from jsonb_array_elements(items) with ordinality e (item, ordinal)
       order by (e.item ->> 'id') collate "C"
    ) s
    cross join lateral stac.item_times(s.item) t
  on conflict (tenant_id, collection, id) do update
     set geometry = excluded.geometry, datetime = excluded.datetime, end_datetime = excluded.end_datetime,
         content = excluded.content, updated_at = now();
  get diagnostics v_stored = row_count;
  if v_stored <> jsonb_array_length(items) then
    raise exception '% of % items were stored', v_stored, jsonb_array_length(items) using errcode = 'FF003',
      hint = 'nothing was stored; try the batch again';
  end if;
  return v_stored;
end $$;
grant execute on function stac.put_items(text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
