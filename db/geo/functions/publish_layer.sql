-- Makes a sealed candidate the layer, in the caller's transaction: readers see the old table until it commits and the new one after.
-- request: {mode: create|replace|append|upsert, key: columns of upsert, title, description, columns, geometry_type, time_column, styles,
-- source, release, item_id, collection, rejected_count}. The table of the version before stays ten minutes for who reads in it.
create or replace function geo.publish_layer(of_candidate text, of_layer text, request jsonb, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_candidate geo.tables := geo.own_table(of_candidate, 'candidate', v_tenant, true);
  v_mode text := request ->> 'mode';
  v_has_geometry boolean := (v_candidate.facts #>> '{spec,has_geometry}')::boolean;
  v_before geo.layers;
  v_new geo.layers;
  v_changed jsonb := '{}';
begin
  select l.* into v_before from geo.layers l where l.tenant_id = v_tenant and l.name = of_layer for update;
  if v_mode = 'create' and v_before.name is not null then
    perform geo.refuse(format('there is a layer "%s" already', of_layer), 'give mode replace, append or upsert, or another name', 'FF003');
  end if;
  v_new.tenant_id := v_tenant;
  v_new.name := of_layer;
  v_new.version := 1 + greatest(coalesce(v_before.version, 0), coalesce(
    (select max(v.version) from geo.layer_versions v where v.tenant_id = v_tenant and v.name = of_layer), 0));
  v_new.title := coalesce(request ->> 'title', v_before.title);
  v_new.description := coalesce(request ->> 'description', v_before.description);
  v_new.styles := coalesce(nullif(request -> 'styles', 'null'), v_before.styles, '{}');
  v_new.source := request -> 'source';
  v_new.release := nullif(request -> 'release', 'null');
  v_new.job_id := v_candidate.job_id;
  v_new.item_id := coalesce(request ->> 'item_id', v_before.item_id);
  v_new.collection := coalesce(request ->> 'collection', v_before.collection);
  v_new.created_at := coalesce(v_before.created_at, now());
  v_new.updated_at := now();
  if v_mode in ('append', 'upsert') and v_before.name is not null then
    v_changed := geo.merge_rows(of_candidate, v_before, v_mode, request);
    -- Its tiles are of the rows before.
    delete from geo.pyramids p where p.table_name = v_before.table_name;
    v_new.table_name := v_before.table_name;
    v_new.columns := v_before.columns;
    v_new.geometry_column := v_before.geometry_column;
    v_new.srid := v_before.srid;
    v_new.time_column := v_before.time_column;
    v_new.geometry_type := case when v_before.geometry_type = request ->> 'geometry_type' or not request ? 'geometry_type'
      then v_before.geometry_type else case when v_before.geometry_column is not null then 'Geometry' end end;
    v_new.feature_count := v_before.feature_count + (v_changed ->> 'inserted')::bigint;
    v_new.extent := geo.extent_of(v_new.table_name, v_before.geometry_column is not null);
    update geo.tables t set doomed_at = now() where t.table_name = of_candidate;
  else
    v_new.table_name := of_candidate;
    v_new.columns := request -> 'columns';
    v_new.geometry_column := case when v_has_geometry then 'geom' end;
    v_new.geometry_type := case when v_has_geometry then coalesce(request ->> 'geometry_type', 'Geometry') end;
    v_new.srid := case when v_has_geometry then (v_candidate.facts #>> '{spec,srid}')::integer end;
    v_new.time_column := request ->> 'time_column';
    v_new.feature_count := (request ->> 'row_count')::bigint;
    v_new.extent := (select array_agg(e::double precision order by n) from jsonb_array_elements_text(nullif(request -> 'extent', 'null')) with ordinality a (e, n));
    update geo.tables t set kind = 'layer', touched_at = now() where t.table_name = of_candidate;
    update geo.tables t set doomed_at = now() + interval '10 minutes' where t.table_name = v_before.table_name;
  end if;
  v_new.key_column := 'fid';
  insert into geo.layers select v_new.*
  on conflict (tenant_id, name) do update set
    title = excluded.title, description = excluded.description, table_name = excluded.table_name, version = excluded.version,
    feature_count = excluded.feature_count, extent = excluded.extent, columns = excluded.columns, key_column = excluded.key_column,
    geometry_column = excluded.geometry_column, geometry_type = excluded.geometry_type, srid = excluded.srid,
    time_column = excluded.time_column, styles = excluded.styles, source = excluded.source, release = excluded.release,
    job_id = excluded.job_id, item_id = excluded.item_id, collection = excluded.collection, updated_at = excluded.updated_at;
  perform geo.record_version(v_new, v_mode, coalesce((request ->> 'rejected_count')::bigint, 0));
  return jsonb_build_object('version', v_new.version, 'table_name', v_new.table_name, 'feature_count', v_new.feature_count) || v_changed;
end $$;
grant execute on function geo.publish_layer(text, text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
