-- A layer as the API tells it. whole: with its columns and where it came from, which for many layers at once would be much.
create or replace function geo.layer_record(layer geo.layers, whole boolean)
returns jsonb
language sql stable
as $$
  select jsonb_build_object(
      'name', layer.name, 'title', layer.title, 'description', layer.description, 'version', layer.version,
      'feature_count', layer.feature_count, 'rejected_count', coalesce(v.rejected_count, 0), 'mode', v.mode,
      'extent', to_jsonb(layer.extent), 'geometry_type', layer.geometry_type, 'srid', layer.srid, 'time_column', layer.time_column,
      'column_count', jsonb_array_length(layer.columns), 'job_id', layer.job_id, 'item_id', layer.item_id, 'collection', layer.collection,
      'release', layer.release, 'created_at', layer.created_at, 'updated_at', layer.updated_at)
    || case when whole
      then jsonb_build_object('key_column', layer.key_column, 'columns', layer.columns, 'source', layer.source, 'style', layer.styles -> 'default')
      else '{}' end
    from (values (true)) one (row)
    left join geo.layer_versions v on v.tenant_id = layer.tenant_id and v.name = layer.name and v.version = layer.version
$$;
