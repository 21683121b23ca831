-- What pgSTAC takes for granted of a collection's items, which are stored as differences from it; null where there is no such collection.
create or replace function stac.pgstac_base(collection_id text, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pgstac, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (select c.base_item from pgstac.collections c where c.id = stac.pgstac_stored_name(collection_id, v_tenant));
end $$;
grant execute on function stac.pgstac_base(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
