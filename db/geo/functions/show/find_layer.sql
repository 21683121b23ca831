-- A layer of the tenant's, or an error that says what to do.
create or replace function geo.find_layer(of_tenant text, of_layer text)
returns geo.layers
language plpgsql stable
as $$
declare
  v_layer geo.layers;
begin
  select l.* into v_layer from geo.layers l where l.tenant_id = of_tenant and l.name = of_layer;
  if not found then
    raise exception 'there is no layer "%"', left(of_layer, 128) using errcode = 'FF001', hint = 'list them', detail = app.action('layers.list');
  end if;
  return v_layer;
end $$;
