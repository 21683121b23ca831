-- Takes a layer out of the catalogue; its table goes after ten minutes, its history stays. Null where there is none. `only_version`: not
-- if it has changed since.
create or replace function geo.unpublish_layer(of_layer text, only_version bigint default null, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_layer geo.layers;
begin
  select l.* into v_layer from geo.layers l where l.tenant_id = v_tenant and l.name = of_layer for update;
  if not found then
    return null;
  end if;
  if only_version is not null and v_layer.version <> only_version then
    perform geo.refuse(format('the layer "%s" has changed since: it is at version %s', of_layer, v_layer.version), 'look again', 'FF003');
  end if;
  delete from geo.layers l where l.tenant_id = v_tenant and l.name = of_layer;
  update geo.tables t set doomed_at = now() + interval '10 minutes' where t.table_name = v_layer.table_name;
  v_layer.version := v_layer.version + 1;
  v_layer.feature_count := 0;
  perform geo.record_version(v_layer, 'unpublish', 0);
  return jsonb_build_object('version', v_layer.version, 'table_name', v_layer.table_name);
end $$;
grant execute on function geo.unpublish_layer(text, bigint, text) to fanfold_api, fanfold_worker, fanfold_admin;
