-- A layer as it is now, and ranges of its keys with so many features each, for tasks that read it side by side. Null where there is none.
create or replace function geo.layer_parts(of_layer text, features_each integer, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_layer geo.layers;
  v_parts jsonb;
begin
  select l.* into v_layer from geo.layers l where l.tenant_id = v_tenant and l.name = of_layer;
  if not found then
    return null;
  end if;
  execute format(
    $q$select coalesce(jsonb_agg(jsonb_build_object('from', p.least, 'to', p.most, 'count', p.count) order by p.least), '[]')
         from (select min(k.fid) as least, max(k.fid) as most, count(*)
                 from (select t.%1$I as fid, (row_number() over (order by t.%1$I) - 1) / %3$s as part from geo.%2$I t) k
                group by k.part) p$q$,
    v_layer.key_column, v_layer.table_name, greatest(features_each, 1)) into v_parts;
  return jsonb_build_object('table', v_layer.table_name, 'version', v_layer.version, 'columns', v_layer.columns,
    'geometry_type', v_layer.geometry_type, 'feature_count', v_layer.feature_count, 'parts', v_parts);
end $$;
grant execute on function geo.layer_parts(text, integer, text) to fanfold_api, fanfold_worker, fanfold_admin;
