-- Gives a collection in pgSTAC the extent and the summaries that its items have now, and answers it.
create or replace function stac.pgstac_refresh_collection(collection_id text, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(collection_id, v_tenant);
  v_content jsonb;
begin
  perform stac.pgstac_lock();
  select c.content into v_content from pgstac.collections c where c.id = v_stored;
  if not found then
    raise exception 'there is no collection "%"', left(collection_id, 80) using errcode = 'FF001', hint = 'make the collection first';
  end if;
  v_content := stac.with_facts(v_content, stac.collection_facts('pgstac', v_stored, v_tenant));
  update pgstac.collections c set content = v_content where c.id = v_stored;
  return stac.pgstac_own(v_content, v_tenant);
end $$;
grant execute on function stac.pgstac_refresh_collection(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
