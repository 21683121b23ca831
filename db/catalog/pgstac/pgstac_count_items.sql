-- How many items a collection of the tenant's has in pgSTAC, counted.
create or replace function stac.pgstac_count_items(of_collection text, tenant text default null)
returns bigint
language plpgsql stable security definer
set search_path = pgstac, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(of_collection, v_tenant);
begin
  return (select count(*) from pgstac.items i where i.collection = v_stored);
end $$;
grant execute on function stac.pgstac_count_items(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
