-- What is known of a chunk that is in the candidate; null when it is not.
create or replace function geo.loaded_chunk(of_candidate text, of_chunk integer, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select c.facts from geo.chunks c
     where c.table_name = of_candidate and c.chunk = of_chunk and c.tenant_id = v_tenant);
end $$;
grant execute on function geo.loaded_chunk(text, integer, text) to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
