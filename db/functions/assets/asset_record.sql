-- A file as it is told.
create or replace function app.asset_record(asset app.assets)
returns json
language sql stable
as $$
  select json_build_object(
    'zone', asset.zone, 'key', asset.key, 'name', asset.name, 'bytes', asset.bytes, 'sha256', asset.sha256,
    'media_type', asset.media_type, 'job_id', asset.job_id,
    'task_id', asset.stage_id || '-' || asset.ordinal, 'adopted', asset.adopted, 'created_at', asset.created_at,
    'retracted_at', asset.retracted_at)
$$;
