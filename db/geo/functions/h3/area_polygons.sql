-- The polygons of a layer as GeoJSON texts in degrees, those whose columns have these values: an area for cells. Refused beyond so many
-- points, which a caller keeps in memory, and where the layer is not at this version any more.
create or replace function geo.area_polygons(of_layer text, filter jsonb, most_points integer, of_version bigint default null, tenant text default null)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_layer geo.layers;
  v_where text;
  v_unknown text;
  v_points bigint;
  v_features bigint;
begin
  select l.* into v_layer from geo.layers l where l.tenant_id = v_tenant and l.name = of_layer;
  if not found then
    perform geo.refuse(format('there is no layer "%s"', left(of_layer, 128)), 'load it with process_vector, or name another', 'FF001');
  end if;
  if v_layer.version <> of_version then
    perform geo.refuse(format('the layer "%s" was changed while the job ran', of_layer), 'submit the job again', 'FF003');
  end if;
  if coalesce(v_layer.geometry_type, 'Point') in ('Point', 'MultiPoint', 'LineString', 'MultiLineString') then
    perform geo.refuse(format('the layer "%s" has no polygons', of_layer), 'name a layer of polygons');
  end if;
  select string_agg(k, ', ') into v_unknown from jsonb_object_keys(filter) k
   where not exists (select from jsonb_array_elements(v_layer.columns) c where c ->> 'name' = k);
  if v_unknown is not null then
    perform geo.refuse(format('the layer "%s" has no columns %s', of_layer, left(v_unknown, 200)), 'see the queryables of the collection');
  end if;
  select coalesce(string_agg(format('t.%I::text = $1 ->> %L', k, k), ' and '), 'true') into v_where from jsonb_object_keys(filter) k;
  execute format('select coalesce(sum(st_npoints(t.%I)), 0), count(*) from geo.%I t where %s', v_layer.geometry_column, v_layer.table_name, v_where)
    into v_points, v_features using filter;
  if v_features = 0 then
    perform geo.refuse(format('no feature of the layer "%s" is as asked for', of_layer), 'look at the values of within.where');
  end if;
  if v_points > most_points then
    perform geo.refuse(format('the area has %s points, %s at most are taken', v_points, most_points), 'simplify it, or choose fewer features', 'FF004');
  end if;
  return query execute format(
    'select st_asgeojson(d.geom, 15) from geo.%2$I t cross join lateral st_dump(%1$s) d where %3$s and st_dimension(d.geom) = 2',
    case when v_layer.srid = 4326 then format('t.%I', v_layer.geometry_column) else format('st_transform(t.%I, 4326)', v_layer.geometry_column) end,
    v_layer.table_name, v_where) using filter;
end $$;
grant execute on function geo.area_polygons(text, jsonb, integer, bigint, text) to fanfold_api, fanfold_worker, fanfold_admin;
