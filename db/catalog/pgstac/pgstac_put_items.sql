-- Inserts or replaces items of one collection in pgSTAC 0.9, all or none, past its staging tables: items come as what pgSTAC would store,
-- [{id, geometry, content, datetime, end_datetime}], made against `base`. Gives how many.
create or replace function stac.pgstac_put_items(into_collection text, items jsonb, base jsonb, tenant text default null)
returns integer
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(into_collection, v_tenant);
  v_collection pgstac.collections;
  v_ids text[];
  v_count integer;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(items);
  end if;
  perform platform.assert_may_publish(v_tenant, array(
    select distinct e #>> '{content,properties,fanfold:job_id}' from jsonb_array_elements(items) e where e #>> '{content,properties,fanfold:job_id}' is not null));
  perform stac.pgstac_lock();
  select * into v_collection from pgstac.collections c where c.id = v_stored for key share;
  if not found then
    raise exception 'there is no collection "%"', left(into_collection, 80)
      using errcode = 'FF001', hint = 'make the collection first, then put its items';
  end if;
  if v_collection.base_item is distinct from base then
    raise exception 'the collection "%" was changed meanwhile', left(into_collection, 80)
      using errcode = 'FF003', hint = 'try again: the items are stored as differences from what the collection says of them';
  end if;
  v_ids := array(select e ->> 'id' from jsonb_array_elements(items) e);
  if (select count(distinct i) from unnest(v_ids) i) <> jsonb_array_length(items) then
    perform stac.refuse('the items cannot be stored', '$', 'an id is missing or comes more than once in this batch', 'give every item an id of its own');
  end if;
  perform pgstac.check_partition(v_stored, p.begins, p.ends)
     from (
       select tstzrange(min(r.datetime), max(r.datetime), '[]') as begins, tstzrange(min(r.end_datetime), max(r.end_datetime), '[]') as ends
         from jsonb_to_recordset(items) r (datetime timestamptz, end_datetime timestamptz)
        group by coalesce(date_trunc(v_collection.partition_trunc, r.datetime), '-infinity')
     ) p;
  if exists (select from pgstac.items i where i.collection = v_stored and i.id = any (v_ids)) then
    delete from pgstac.items i where i.collection = v_stored and i.id = any (v_ids);
  end if;
  insert into pgstac.items (id, geometry, collection, datetime, end_datetime, content)
  select r.id, stac.geometry_as_given(r.geometry), v_stored, r.datetime, r.end_datetime, r.content
    from jsonb_to_recordset(items) r (id text, geometry jsonb, datetime timestamptz, end_datetime timestamptz, content jsonb);
  get diagnostics v_count = row_count;
  if v_count <> jsonb_array_length(items) then
    raise exception '% of % items were stored', v_count, jsonb_array_length(items) using errcode = 'FF003',
      hint = 'nothing was stored; try the batch again';
  end if;
  return v_count;
end $$;
grant execute on function stac.pgstac_put_items(text, jsonb, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
