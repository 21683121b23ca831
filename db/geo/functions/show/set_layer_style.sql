-- How a layer is drawn, for everybody who looks at it: kept beside the layer, over every replacement of its rows. Null: as if it had none.
-- Its features stay the version they are.
create or replace function geo.set_layer_style(layer_id text, style json default null, tenant text default null, actor text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_layer geo.layers := geo.find_layer(v_tenant, layer_id);
  v_style jsonb := nullif(style::jsonb, 'null');
begin
  if v_style ->> 'column' is not null then
    perform geo.layer_column(to_jsonb(v_layer), v_style ->> 'column');
  end if;
  update geo.layers l
     set styles = case when v_style is null then l.styles - 'default' else l.styles || jsonb_build_object('default', v_style) end
   where l.tenant_id = v_tenant and l.name = layer_id;
  perform app.note(v_tenant, 'layer.styled', null, null, null, jsonb_build_object('layer', layer_id, 'column', v_style ->> 'column'), actor);
  return geo.layer_record(geo.find_layer(v_tenant, layer_id), true);
end $$;
grant execute on function geo.set_layer_style(text, json, text, text) to fanfold_api, fanfold_admin;
