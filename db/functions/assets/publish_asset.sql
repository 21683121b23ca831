-- Makes a file that a task has written visible. Part of the task's finish: without it nobody ever sees the file.
-- request: {tenant?, zone, key, name, bytes, sha256, media_type, job_id?, stage_id?, ordinal?}
create or replace function app.publish_asset(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_asset app.assets;
begin
  perform app.wait_briefly();
  insert into app.assets as a (tenant_id, zone, key, name, bytes, sha256, media_type, job_id, stage_id, ordinal)
  values (
    v_tenant, request ->> 'zone', request ->> 'key', request ->> 'name', (request ->> 'bytes')::bigint,
    request ->> 'sha256', request ->> 'media_type', coalesce(request ->> 'job_id', app.job_of(v_tenant, (request ->> 'stage_id')::bigint)), (request ->> 'stage_id')::bigint, (request ->> 'ordinal')::bigint)
  -- The same finish, sent again.
  on conflict (tenant_id, zone, key) do update
    set name = excluded.name, bytes = excluded.bytes, sha256 = excluded.sha256, media_type = excluded.media_type
    where not a.adopted and a.retracted_at is null
  returning a.* into v_asset;
  if not found then
    raise exception 'there is another file at %:%', request ->> 'zone', left(request ->> 'key', 300) using errcode = 'FF003';
  end if;
  return app.asset_record(v_asset);
exception
  when check_violation or not_null_violation or invalid_text_representation or numeric_value_out_of_range then
    raise exception 'this is not the record of a file: %', sqlerrm using errcode = 'FF002';
end $$;
grant execute on function app.publish_asset(json) to fanfold_api, fanfold_worker, fanfold_admin;
