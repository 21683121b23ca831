-- A collection of the tenant's in pgSTAC; null where there is none.
create or replace function stac.pgstac_get_collection(collection_id text, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pgstac, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(collection_id, v_tenant);
begin
  return (
    select stac.pgstac_own(c.content, v_tenant) from pgstac.collections c
     where c.id = v_stored);
end $$;
grant execute on function stac.pgstac_get_collection(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
