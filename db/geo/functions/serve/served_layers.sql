-- The tenant's layers in the order of their names, after one; as many as asked for.
create or replace function geo.served_layers(after text, page_rows integer, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(p) - 'tenant_id' || jsonb_build_object('flips', geo.crs_flips(p.srid)) order by p.name), '[]')
      from (
        select l.* from geo.layers l
         where l.tenant_id = v_tenant and (after is null or l.name > after collate "C")
         order by l.name
         limit least(greatest(page_rows, 1), 1001)
      ) p);
end $$;
grant execute on function geo.served_layers(text, integer, text) to fanfold_api, fanfold_worker, fanfold_admin;
