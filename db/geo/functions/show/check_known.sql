-- Refuses the name of a layer that never was, and that no load was meant for.
create or replace function geo.check_known(of_tenant text, of_layer text)
returns void
language plpgsql stable
as $$
begin
  if exists (select from geo.layer_versions v where v.tenant_id = of_tenant and v.name = of_layer)
    or exists (select from geo.rejects r where r.tenant_id = of_tenant and r.layer = of_layer) then
    return;
  end if;
  perform geo.find_layer(of_tenant, of_layer);
end $$;
