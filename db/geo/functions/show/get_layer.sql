-- One layer, with its columns, its style, and where it came from.
create or replace function geo.get_layer(layer_id text, tenant text default null)
returns jsonb
language sql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
as $$
  select geo.layer_record(geo.find_layer(app.acting_tenant(tenant), layer_id), true)
$$;
grant execute on function geo.get_layer(text, text) to fanfold_api, fanfold_admin;
