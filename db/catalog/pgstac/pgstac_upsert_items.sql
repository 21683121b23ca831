-- Inserts or replaces whole items of one collection through pgSTAC's own functions, all or none: for versions whose tables we do not know.
create or replace function stac.pgstac_upsert_items(into_collection text, items jsonb, tenant text default null)
returns integer
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(into_collection, v_tenant);
  v_count integer;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(items);
  end if;
  perform platform.assert_may_publish(v_tenant, array(
    select distinct e #>> '{properties,fanfold:job_id}' from jsonb_array_elements(items) e where e #>> '{properties,fanfold:job_id}' is not null));
  perform stac.pgstac_lock();
  if not exists (select from pgstac.collections c where c.id = v_stored) then
    raise exception 'there is no collection "%"', left(into_collection, 80)
      using errcode = 'FF001', hint = 'make the collection first, then put its items';
  end if;
  perform stac.assert_batch(into_collection, items);
  perform pgstac.upsert_items((select jsonb_agg(e || jsonb_build_object('collection', v_stored)) from jsonb_array_elements(items) e));
  -- It says nothing of what it left out.
  v_count := (
    select count(*) from pgstac.items i
     where i.collection = v_stored and i.id = any (array(select e ->> 'id' from jsonb_array_elements(items) e)));
  if v_count <> jsonb_array_length(items) then
    raise exception '% of % items were stored', v_count, jsonb_array_length(items) using errcode = 'FF003',
      hint = 'nothing was stored; try the batch again';
  end if;
  return v_count;
end $$;
grant execute on function stac.pgstac_upsert_items(text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
