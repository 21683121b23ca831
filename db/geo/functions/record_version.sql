-- Writes a version of a layer into its history, and that the one before is served no more.
create or replace function geo.record_version(layer geo.layers, of_mode text, rejected bigint)
returns void
language sql
as $$
  update geo.layer_versions v set retired_at = now()
   where v.tenant_id = layer.tenant_id and v.name = layer.name and v.retired_at is null;
  insert into geo.layer_versions (tenant_id, name, version, mode, table_name, feature_count, extent, columns, key_column, geometry_column,
    geometry_type, srid, time_column, source, release, job_id, rejected_count, retired_at)
  values (layer.tenant_id, layer.name, layer.version, of_mode, layer.table_name, layer.feature_count, layer.extent, layer.columns,
    layer.key_column, layer.geometry_column, layer.geometry_type, layer.srid, layer.time_column, layer.source, layer.release, layer.job_id,
    rejected, case when of_mode = 'unpublish' then now() end);
$$;
