-- A layer as the services read it; null where the tenant has none of that name. of_version: an earlier one, as long as its table is there:
-- a reader of pages goes on in what the first page was of. Also whether northing comes before easting in its reference system.
create or replace function geo.served_layer(layer text, tenant text default null, of_version bigint default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_layer jsonb;
  v_then jsonb;
begin
  select to_jsonb(l) - 'tenant_id' into v_layer from geo.layers l where l.tenant_id = v_tenant and l.name = layer;
  if of_version is not null and of_version is distinct from (v_layer ->> 'version')::bigint then
    select to_jsonb(o) into v_then
      from geo.layer_versions o
     where o.tenant_id = v_tenant and o.name = layer and o.version = of_version and o.table_name is not null;
    v_layer := v_layer || (v_then - array['tenant_id', 'mode', 'rejected_count', 'retired_at', 'created_at']);
  end if;
  return v_layer || jsonb_build_object('flips', geo.crs_flips((v_layer ->> 'srid')::integer));
end $$;
grant execute on function geo.served_layer(text, text, bigint) to fanfold_api, fanfold_worker, fanfold_admin;
