-- An upload as its tenant is told of it.
create or replace function app.upload_record(upload app.uploads)
returns json
language sql stable
as $$
  select json_build_object(
    'upload_id', upload.upload_id, 'ref', 'bronze:' || upload.key, 'key', upload.key, 'state', upload.state, 'bytes', upload.bytes,
    'part_bytes', upload.part_bytes, 'media_type', upload.media_type, 'sha256', upload.sha256, 'overwrite', upload.overwrite,
    'actor', upload.actor, 'created_at', upload.created_at,
    'expires_at', case when upload.state <> 'completed' then upload.expires_at end, 'completed_at', upload.completed_at)
$$;
